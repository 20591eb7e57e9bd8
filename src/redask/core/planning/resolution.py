"""A reading as statements: each table phrase a table, each column phrase a column, joins between.

    asked for                              statement
    columns                                SELECT columns; other tables that are named: EXISTS
    aggregates, counts                     one row; with columns or "each": GROUP BY
    the most rows of a table               GROUP BY, ORDER BY count, ties included
    at least n rows of a table             a count in WHERE; of the column's own table: HAVING
    not, no, never                         <>, or NOT EXISTS for another table

SUM and AVG are refused where a join repeats rows; counts are then of different keys.
`Doubt` says why a reading does not hold.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from redask.core.planning.column_choice import Scope
from redask.core.planning.joins import Doubt
from redask.core.planning.linking import Linker
from redask.core.planning.phrases import TablePhrase
from redask.core.planning.readings import (
    Counted,
    Each,
    Extreme,
    Item,
    Mention,
    Reading,
    Restated,
    Verb,Condition,
    Sort,
)
from redask.core.planning.statement_builder import Names, StatementBuilder
from redask.core.planning.trees import Statement

_MAX_CHOICES = 16


def statements(reading: Reading, linker: Linker) -> Iterator[tuple[Statement, int] | Doubt]:
    """The statements that a reading may mean, with their costs; doubts where it means none."""
    reading = _restated(reading)
    phrases = _table_phrases(reading)
    for choice in islice(product(*(phrase.links for phrase in phrases)), _MAX_CHOICES):
        tables: Names = {
            (phrase.start, phrase.end): link.table
            for phrase, link in zip(phrases, choice, strict=True)
        }
        extra = sum(
            link.cost - phrase.links[0].cost
            for phrase, link in zip(phrases, choice, strict=True)
        )
        for first, price in _firsts(reading, tables):
            named = dict.fromkeys((*tables.values(), *_owners(reading)))
            scope = Scope(linker, first, tuple(named), tuple(tables.values()))
            try:
                statement, cost = StatementBuilder(reading, scope, tables).build()
            except Doubt as doubt:
                yield doubt
            else:
                flags=set()
                if any(l.cost for l in choice): flags.add('partial table')
                if any(isinstance(m,Verb) for m in reading.modifiers): flags.add('verb')
                cols=[i.column for i in reading.items if i.column]+[m.column for m in reading.modifiers if getattr(m,'column',None)]
                for c in cols:
                    if c.links[0].cost>=4: flags.add('partial column')
                    elif c.links[0].cost>=2: flags.add('synonym column')
                if len(set(tables.values()))==0:
                    ow=any(l.owned and l.table==first for c in cols for l in c.links)
                    flags.add('0T owned' if ow else '0T free')
                    n=sum(1 for l in reading.items[0].column.links if l.cost<=1)
                    flags.add(f'0T {"owned" if ow else "free"} first item links {min(n,3)}')
                    if len(reading.items)>1: flags.add(f'0T {"owned" if ow else "free"} items 2+')
                    if reading.modifiers: flags.add(f'0T {"owned" if ow else "free"} mods')
                    else: flags.add(f'0T {"owned" if ow else "free"} nomods')
                flags.add(f'tables {len(set(tables.values()))}')
                if any(i.kind=='entity' for i in reading.items): flags.add('entity')
                for m in reading.modifiers: flags.add('m '+type(m).__name__)
                if any(isinstance(m,Condition) and m.column is None and not m.dimension for m in reading.modifiers): flags.add('bare value')
                if any(isinstance(m,Mention) and m.loose for m in reading.modifiers): flags.add('loose mention')
                if cost: flags.add('choice cost'); flags|={f'choice {min(cost,6)}'}
                for c in cols:
                    mine=[l.cost for l in c.links if l.table==first]
                    if mine and min(mine)>c.links[0].cost: flags.add(f'worse link {min(4,min(mine)-c.links[0].cost)}')
                if any(isinstance(m,Condition) and m.column is not None for m in reading.modifiers): flags.add('cond column')
                ex=[t for t in statement.where if type(t).__name__=='Existence']
                flags.add(f'exist {len(ex)} neg {sum(t.negative for t in ex)} steps {max([len(t.steps) for t in ex],default=0)}')
                from redask.core.planning.joins import fans_out
                flags.add(f'joins {len(statement.steps)} group {bool(statement.groups)} fan {any(fans_out(linker,s) for s in statement.steps)}')
                if statement.steps: flags.add('J '+' '.join(sorted({type(m).__name__ for m in reading.modifiers}))+f' items {len({o.column.table for o in statement.outputs if o.column})} agg {any(o.aggregate for o in statement.outputs)}')
                if price: flags.add('first cost')
                from redask.core.planning.condition_tests import test_of
                for m in reading.modifiers:
                    if isinstance(m,Condition) and m.op not in('contain','start','end'):
                        try: col,_,c=test_of(m,scope)
                        except Doubt: continue
                        if col.table!=first:
                            flags.add(('cc column ' if m.column else 'cc value ')+('phrase-named' if col.table in tables.values() else 'owned-named')+(' near' if m.near else '')+(' neg' if m.negative else ''))
                        elif m.hint=='name' and c: flags.add('cc hint non-name')
                        elif m.column is None and not m.dimension:
                            v=m.values[0]; flags.add('cv '+('quoted' if v.quoted else 'lower' if v.text.islower() else 'cap')+f' w{min(3,v.end-v.start)}'+(' list' if len(m.values)>1 else ''))
                            flags.add('cv2 '+('exact' if any(x.value==v.text for x in v.stored) else 'loose')+(f' {len({(x.table,x.column) for x in v.stored})} places'))
                            flags.add('cc value own '+m.hint+(' near' if m.near else '')+(' neg' if m.negative else ''))
                        else: flags.add('cc col own'+(' neg' if m.negative else '')+' '+m.op+(' lst' if len(m.values)>1 else ''))
                for n,m in enumerate(reading.modifiers):
                    if isinstance(m,Verb):
                        nx=reading.modifiers[n+1]
                        t=getattr(nx,'table',None) or getattr(nx,'near',None)
                        tt=tables.get((t.start,t.end)) if t else None
                        from redask.core.planning.joins import steps_between
                        try: st=len(steps_between(linker,first,tt)) if tt else -1
                        except Doubt: st=-2
                        flags.add('V '+type(nx).__name__+(' neg' if getattr(nx,'negative',False) else '')+f' steps {st}'+(' partial' if t and t.links[0].cost else ''))
                        flags.add('V form '+('ed' if m.word.endswith('ed') else 'other'))
                for i in reading.items:
                    if i.column and all(l.table!=first for l in i.column.links): flags.add('cc item other table')
                object.__setattr__(statement,'flags',flags)
                yield statement, reading.cost + extra + price + cost


def _restated(reading: Reading) -> Reading:
    """The reading with what its second sentence asks to show, if that adds to the first."""
    again = [each for each in reading.modifiers if isinstance(each, Restated)]
    if not again:
        return reading
    table = reading.table or next((item.table for item in reading.items if item.table), None)
    rest = tuple(each for each in reading.modifiers if not isinstance(each, Restated))
    return replace(reading, items=again[-1].items, table=table, modifiers=rest)


def _table_phrases(reading: Reading) -> list[TablePhrase]:
    found: list[TablePhrase | None] = [reading.table]
    found += [item.table for item in reading.items]
    for each in reading.modifiers:
        if isinstance(each, Counted | Mention | Extreme | Each | Sort):
            found.append(each.table)
    unique = {(phrase.start, phrase.end): phrase for phrase in found if phrase is not None}
    return list(unique.values())


def _firsts(reading: Reading, tables: Names) -> list[tuple[str, int]]:
    """The tables that a reading may be of, each with what it costs to think so."""
    counted = [item for item in reading.items if item.kind == "count" and item.table]
    entity = [item for item in reading.items if item.kind == "entity"]
    if counted and (len(reading.items) > 1 or reading.table is None):
        return [(_name(counted[0].table, tables), 0)]
    if reading.table is not None:
        return [(_name(reading.table, tables), 0)]
    if entity:
        return [(_name(entity[0].table, tables), 0)]
    owned = [item.table for item in reading.items if item.table]
    if owned:
        return [(_name(owned[0], tables), 0)]
    shown = _owners(replace(reading, modifiers=()))
    if shown and not counted:
        return [(shown[0], 0)]
    for each in reading.modifiers:
        if isinstance(each, Counted | Each | Extreme | Mention | Sort) and each.table is not None:
            if not (isinstance(each, Mention) and each.negative):
                return [(_name(each.table, tables), 0)]
    return _holding(reading)


def _name(phrase: TablePhrase | None, tables: Names) -> str:
    assert phrase is not None
    return tables[phrase.start, phrase.end]


def _owners(reading: Reading) -> list[str]:
    """The tables that column phrases name as well: `names of students`."""
    columns = [item.column for item in reading.items]
    columns += [
        each.column for each in reading.modifiers if isinstance(each, Condition | Extreme | Sort)
    ]
    found = [
        [link.table for link in column.links if link.owned and link.cost <= 1]
        for column in columns
        if column is not None
    ]
    return list(dict.fromkeys(tables[0] for tables in found if len(set(tables)) == 1))


def _holding(reading: Reading) -> list[tuple[str, int]]:
    """The tables that hold a column for each item, cheapest first.

    Without a table that is named, only one column that no other table has is safe.
    """
    prices: dict[str, int] = {}
    items = reading.items
    columns = [item.column for item in items if item.column is not None]
    owners = _owners(reading)
    if not owners and (reading.modifiers or len(items) > 1 or len(columns[:1]) != 1):
        return []
    if not owners and len({link.table for link in columns[0].links if link.cost <= 4}) > 1:
        return []
    for place, column in enumerate(columns):
        here: dict[str, int] = {}
        for link in column.links:
            price = link.cost - column.links[0].cost + (0 if link.owned else 2)
            here.setdefault(link.table, price)
        if place == 0:
            prices = here
        else:
            prices = {
                table: price + here[table] for table, price in prices.items() if table in here
            }
    if owners:
        prices = {table: price for table, price in prices.items() if table in owners}
    least = min(prices.values(), default=0)
    ranked = sorted(prices.items(), key=lambda each: (each[1], each[0]))
    return [(table, (price - least) * 2) for table, price in ranked]
