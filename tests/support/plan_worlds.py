"""A shop and a school to plan questions over: schemas of our own, and their values in memory."""

from collections.abc import Mapping, Sequence

from redask.core.planning.plan_schema import (
    ForeignKey,
    PlanColumn,
    PlanSchema,
    PlanTable,
    StoredValue,
)
from redask.core.planning.value_text import normalised


class StoredTexts:
    """A ValueIndex of some texts."""

    def __init__(self, stored: dict[tuple[str, str], tuple[str, ...]]) -> None:
        self._found: dict[str, list[StoredValue]] = {}
        for (table, column), texts in stored.items():
            for text in texts:
                value = StoredValue(table, column, text)
                self._found.setdefault(normalised(text), []).append(value)

    def find(self, texts: Sequence[str]) -> Mapping[str, tuple[StoredValue, ...]]:
        """The values under each normal form."""
        return {text: tuple(self._found[text]) for text in texts if text in self._found}


def _table(name: str, columns: str, key: str = "", words: str = "") -> PlanTable:
    """A table from `name:type` pairs; `?` behind a type: the column has NULLs."""
    found = []
    for each in columns.split():
        column, _, kind = each.partition(":")
        found.append(PlanColumn(column, kind.rstrip("?"), 5, int(kind.endswith("?"))))
    return PlanTable(name, tuple(found), tuple(key.split()), 10, tuple(words.split()))


SHOP = PlanSchema(
    (
        _table(
            "customers",
            "customer_id:int4 customer_name:text city:text country:text age:int4 "
            "phone_number:text joined_date:date is_active:bool",
            "customer_id",
            "clients",
        ),
        _table(
            "orders",
            "order_id:int4 customer_id:int4 order_date:date status:text total:numeric(18,2) "
            "shipped_date:date?",
            "order_id",
        ),
        _table("order_items", "order_id:int4 product_id:int4 quantity:int4", "order_id product_id"),
        _table(
            "products",
            "product_id:int4 product_name:text category:text price:numeric(18,2) weight:float8 "
            "rank:int4 num_colours:int4 max_speed:int4 supplier_id:int4?",
            "product_id",
        ),
        _table(
            "suppliers", "supplier_id:int4 name:text country:text open_year:int4", "supplier_id"
        ),
        _table("messages", "message_id:int4 sender_id:int4 receiver_id:int4 body:text", ""),
        _table("store_detail", "store_id:int4 Store_Name:text Location:text", "store_id"),
    ),
    (
        ForeignKey("orders", ("customer_id",), "customers", ("customer_id",)),
        ForeignKey("order_items", ("order_id",), "orders", ("order_id",)),
        ForeignKey("order_items", ("product_id",), "products", ("product_id",)),
        ForeignKey("products", ("supplier_id",), "suppliers", ("supplier_id",), False),
        ForeignKey("messages", ("sender_id",), "customers", ("customer_id",)),
        ForeignKey("messages", ("receiver_id",), "customers", ("customer_id",)),
        ForeignKey("messages", ("gone_id",), "gone", ("id",)),
    ),
)
SHOP_VALUES = StoredTexts(
    {
        ("customers", "customer_name"): ("Ann Lee", "Bob O'Neil", "ann"),
        ("customers", "city"): ("São Paulo", "Rio de Janeiro", "Paris", "Ghent"),
        ("customers", "country"): ("Brazil", "France", "Belgium "),
        ("orders", "status"): ("paid", "On-Hold", "Cancelled", "total"),
        ("products", "product_name"): ("Red Chair", "Paris"),
        ("products", "category"): ("Furniture", "Toys", "F"),
        ("suppliers", "country"): ("Brazil", "Japan"),
        ("suppliers", "name"): ("Acme",),
        ("store_detail", "Location"): ("OR", "Ghent"),
    }
)

SCHOOL = PlanSchema(
    (
        _table(
            "Student",
            "StuID:int4 LName:text Fname:text Age:int4 Sex:text Height:int4 city_code:text "
            "birth_date:date dept_name:text",
            "StuID",
        ),
        _table("department", "dept_name:text building:text budget:numeric(18,2)", "dept_name"),
        _table("course", "course_id:int4 title:text credits:int4 dept_name:text?", "course_id"),
        _table("takes", "StuID:int4 course_id:int4 grade:text year:int4", "StuID course_id"),
        _table("Ref_Clubs", "club_id:int4 cName:text Directed_by:text fee:int4", "club_id"),
        _table("events", "event_id:int4 title:text start:timestamp start_year:int4", "event_id"),
        _table("logs", "line:text", ""),
    ),
    (
        ForeignKey("Student", ("dept_name",), "department", ("dept_name",)),
        ForeignKey("course", ("dept_name",), "department", ("dept_name",)),
        ForeignKey("takes", ("StuID",), "Student", ("StuID",)),
        ForeignKey("takes", ("course_id",), "course", ("course_id",)),
    ),
)
SCHOOL_VALUES = StoredTexts(
    {
        ("Student", "Fname"): ("Linda", "Kim"),
        ("Student", "LName"): ("Smith", "Kim"),
        ("Student", "Sex"): ("F", "M"),
        ("Student", "city_code"): ("HKG", "CHI"),
        ("Student", "dept_name"): ("Physics", "Comp. Sci."),
        ("department", "dept_name"): ("Physics", "Comp. Sci.", "Biology"),
        ("department", "building"): ("Taylor",),
        ("course", "title"): ("World History",),
        ("course", "dept_name"): ("Physics", "Biology"),
        ("takes", "grade"): ("A", "B"),
    }
)
