"""Names of months, weekdays and times of day, and the arithmetic of days.

Months in English, German, French and Spanish, with the usual abbreviations; weekdays in English.
"""

_MONTHS = """january jan jan. januar janvier enero
february feb feb. februar février febrero
march mar mar. märz mars marzo
april apr apr. avril abril
may mai mayo
june jun jun. juni juin junio
july jul jul. juli juillet julio
august aug aug. août agosto
september sep sep. sept sept. septembre septiembre
october oct oct. oktober octobre octubre
november nov nov. novembre noviembre
december dec dec. dezember décembre diciembre"""

MONTHS: dict[str, int] = {
    name: number for number, row in enumerate(_MONTHS.split("\n"), 1) for name in row.split()
}
WEEKDAYS: dict[str, int] = {
    name: number
    for number, name in enumerate(
        "monday tuesday wednesday thursday friday saturday sunday".split()
    )
}
HOURS: dict[str, int] = {
    name: number
    for number, name in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), 1
    )
}
DAYTIMES: dict[str, int] = {"noon": 12, "midday": 12, "midnight": 0}
CENTURIES: dict[str, int] = {
    name: number
    for number, name in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
        thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
        twenty-first""".split(),
        1,
    )
}

_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def days_in(year: int | None, month: int) -> int:
    """How many days a month has; February has 29 when the year is not said."""
    leap = year is None or (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    return 29 if month == 2 and leap else _LENGTHS[month - 1]


def day_number(year: int, month: int, day: int) -> int:
    """Days since 1 March of year 0 in the Gregorian calendar."""
    shifted = year - (month < 3)
    days = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + days


def weekday(number: int) -> int:
    """The weekday of a day's number: 0 for Monday to 6 for Sunday."""
    return (number + 2) % 7
