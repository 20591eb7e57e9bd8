"""The table of units, currencies and magnitudes: spelling → `Unit`, or a power of ten.

A row is `canonical system factor [offset] | symbols | words`: a number written in the unit, times
the factor, plus the offset, is the number in the canonical unit. `_` stands for a space.

    symbols    compared with their case (mW is not MW), not followed by a letter or digit
    words      compared without case; a plural with s counts, irregular ones are listed
    on several rows    the spelling is ambiguous (pound, ton, kb), and each row is a reading
    X/Y, X per Y       two units of the table make one: `m/s`, `mol/m3`

Years and months are counted in months, everything shorter in seconds: no number of days is a
month. `system` says whether converting is exact by definition (km to m) or rounds by nature
(miles to km). Dollars without a country are USD.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Unit:
    """What a written unit is worth: `number * factor + offset` of the canonical one."""

    canonical: str
    system: str
    factor: Fraction
    offset: Fraction
    written: str


_ROWS = """
% ratio 1 | % | percent per_cent pct prozent por_ciento pour_cent
% ratio 1/10 | ‰ | permille per_mille
pp ratio 1 | | percentage_point
m metric 1000 | km | kilometre kilometer
m metric 1 | m | metre meter
m metric 1/100 | cm | centimetre centimeter
m metric 1/1000 | mm | millimetre millimeter
m metric 1/1000000 | µm μm um | micrometre micrometer micron
m metric 1/1000000000 | nm | nanometre nanometer
m metric 1/10000000000 | Å | angstrom
m imperial 1609.344 | mi | mile
m imperial 0.9144 | yd | yard
m imperial 0.3048 | ft | foot feet
m imperial 0.0254 | | inch inches
m nautical 1852 | nmi | nautical_mile
m astronomical 9460730472580800 | ly | light_year light-year
kg metric 1000 | | tonne metric_ton
kg imperial 907.18474 | | ton short_ton
kg imperial 1016.0469088 | | ton long_ton
kg metric 1000 | | ton
kg metric 1 | kg | kilogram kilogramme kilo
kg metric 1/1000 | g | gram gramme
kg metric 1/1000000 | mg | milligram milligramme
kg metric 1/1000000000 | µg μg ug mcg | microgram
kg metric 1/1000000000000 | ng | nanogram
kg imperial 0.45359237 | lb lbs | pound
kg imperial 0.028349523125 | oz | ounce
s time 1 | s sec secs | second segundo sekunde sekunden seconde
s time 1/1000 | ms | millisecond
s time 1/1000000 | µs μs | microsecond
s time 1/1000000000 | ns | nanosecond
s time 60 | min mins | minute minuto minuten
s time 3600 | h hr hrs | hour hora heure stunde stunden
s time 86400 | d | day día día tag tage tagen jour
s time 604800 | wk wks | week woche wochen semana semaine
s time 1209600 | | fortnight
month time 1 | mo mos | month monat monate monaten mes meses mois
month time 12 | y yr yrs | year jahr jahre jahren año année
month time 120 | | decade
month time 1200 | | century centuries
month time 12000 | | millennium millennia
m2 metric 1000000 | km² km2 | square_kilometre square_kilometer sq_km
m2 metric 1 | m² m2 | square_metre square_meter sq_m
m2 metric 1/10000 | cm² cm2 | square_centimetre square_centimeter
m2 metric 1/1000000 | mm² mm2 | square_millimetre square_millimeter
m2 metric 10000 | ha | hectare
m2 imperial 4046.8564224 | | acre
m2 imperial 2589988.110336 | mi² mi2 | square_mile sq_mi
m2 imperial 0.83612736 | yd² | square_yard sq_yd
m2 imperial 0.09290304 | ft² ft2 | square_foot square_feet sq_ft
m2 imperial 0.00064516 | | square_inch square_inches sq_in
m3 metric 1000000000 | km³ km3 | cubic_kilometre cubic_kilometer
m3 metric 1 | m³ m3 | cubic_metre cubic_meter
m3 metric 1/1000000 | cm³ cm3 cc | cubic_centimetre cubic_centimeter
m3 metric 1/1000000000 | mm³ mm3 | cubic_millimetre cubic_millimeter
m3 metric 1/1000 | L l | litre liter
m3 metric 1/10000 | dL dl | decilitre deciliter
m3 metric 1/100000 | cL cl | centilitre centiliter
m3 metric 1/1000000 | mL ml | millilitre milliliter
m3 metric 1/1000000000 | µL µl μL μl | microlitre microliter
m3 imperial 0.003785411784 | gal | gallon
m3 imperial 0.00454609 | | gallon
m3 imperial 0.028316846592 | ft³ ft3 | cubic_foot cubic_feet cu_ft
m3 imperial 0.158987294928 | bbl | barrel
m/s metric 5/18 | kph kmh |
m/s imperial 0.44704 | mph |
m/s nautical 1852/3600 | kn | knot
K celsius 1 273.15 | °C ℃ °_C º_C ºC | degrees_celsius degree_celsius degrees_c celsius
K fahrenheit 5/9 45967/180 | °F ℉ °_F º_F ºF | degrees_fahrenheit degrees_f fahrenheit
K metric 1 | K | kelvin
deg angle 1 | ° º | degree
byte data 1 | B | byte
byte data 1000 | kB KB | kilobyte
byte data 1000000 | MB | megabyte
byte data 1000000000 | GB | gigabyte
byte data 1000000000000 | TB | terabyte
byte data 1000000000000000 | PB | petabyte
byte data 1024 | KiB | kibibyte
byte data 1048576 | MiB | mebibyte
byte data 1073741824 | GiB | gibibyte
byte data 1099511627776 | TiB | tebibyte
byte data 1/8 | | bit
byte data 125 | kbit kb Kb | kilobit
byte data 125000 | Mbit Mb | megabit
byte data 125000000 | Gbit Gb | gigabit
byte/s data 125 | kbps Kbps |
byte/s data 125000 | Mbps |
byte/s data 125000000 | Gbps |
bp bases 1 | bp nt | base_pair nucleotide
bp bases 1000 | kb kbp Kb | kilobase
bp bases 1000000 | Mb Mbp | megabase
J metric 1 | J | joule
J metric 1000 | kJ | kilojoule
J metric 1000000 | MJ | megajoule
J calories 4.184 | cal | calorie
J calories 4184 | kcal | kilocalorie calorie
J metric 3600 | Wh | watt_hour watt-hour
J metric 3600000 | kWh | kilowatt_hour kilowatt-hour
J metric 3600000000 | MWh | megawatt_hour megawatt-hour
J metric 3600000000000 | GWh | gigawatt_hour gigawatt-hour
J metric 3600000000000000 | TWh | terawatt_hour terawatt-hour
J electronic 1.602176634e-19 | eV | electronvolt
J imperial 1055.05585262 | BTU Btu |
W metric 1/1000 | mW | milliwatt
W metric 1 | W | watt
W metric 1000 | kW | kilowatt
W metric 1000000 | MW | megawatt
W metric 1000000000 | GW | gigawatt
W metric 1000000000000 | TW | terawatt
W imperial 745.69987158227022 | hp bhp | horsepower
Hz metric 1 | Hz | hertz
Hz metric 1000 | kHz | kilohertz
Hz metric 1000000 | MHz | megahertz
Hz metric 1000000000 | GHz | gigahertz
Hz metric 1/60 | rpm |
Pa metric 1 | Pa | pascal
Pa metric 100 | hPa mbar | hectopascal millibar
Pa metric 1000 | kPa | kilopascal
Pa metric 1000000 | MPa | megapascal
Pa metric 100000 | bar |
Pa atmospheric 101325 | atm |
Pa mercury 133.322387415 | mmHg mm_Hg |
Pa imperial 6894.757293168 | psi |
V metric 1/1000 | mV | millivolt
V metric 1 | V | volt
V metric 1000 | kV | kilovolt
A metric 1/1000 | mA | milliamp milliampere
A metric 1 | A | amp ampere
ohm metric 1 | Ω Ω | ohm
N metric 1 | N | newton
N metric 1000 | kN | kilonewton
mol metric 1 | mol | mole
mol metric 1/1000 | mmol | millimole
mol metric 1/1000000 | µmol μmol umol | micromole
mol metric 1/1000000000 | nmol | nanomole
mol metric 1/1000000000000 | pmol | picomole
mol/m3 metric 1 | mM | millimolar
mol/m3 metric 1/1000 | µM μM uM microM | micromolar
mol/m3 metric 1/1000000 | nM | nanomolar
mol/m3 metric 1/1000000000 | pM | picomolar
Gy metric 1 | Gy | gray
dB sound 1 | dB | decibel
USD money 1 | $ US$ USD | dollar us_dollar u.s._dollar american_dollar buck
USD money 1/100 | ¢ | cent
AUD money 1 | A$ AU$ AUD | australian_dollar
CAD money 1 | C$ CA$ CAD | canadian_dollar
HKD money 1 | HK$ HKD |
NZD money 1 | NZ$ NZD |
SGD money 1 | S$ SGD |
EUR money 1 | € EUR | euro
EUR money 1/100 | | cent eurocent
GBP money 1 | £ GBP | pound pound_sterling pounds_sterling
GBP money 1/100 | | pence penny
JPY money 1 | ¥ JP¥ JPY | yen
CNY money 1 | CN¥ ¥ CNY RMB | yuan renminbi
INR money 1 | ₹ Rs Rs. INR | rupee
CHF money 1 | CHF | swiss_franc
BRL money 1 | R$ BRL |
KRW money 1 | ₩ KRW | south_korean_won
RUB money 1 | ₽ RUB | rouble ruble
franc money 1 | | franc
mark money 1 | | deutschmark deutsche_mark reichsmark
guilder money 1 | | guilder
peso money 1 | | peso
SEK money 1 | SEK | swedish_krona
"""

MAGNITUDES: dict[str, int] = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "tausend": 3,
    "lakh": 5,
    "million": 6,
    "millions": 6,
    "millionen": 6,
    "millones": 6,
    "mn": 6,
    "mln": 6,
    "mio": 6,
    "mio.": 6,
    "m": 6,
    "crore": 7,
    "billion": 9,
    "billions": 9,
    "bn": 9,
    "mrd": 9,
    "mrd.": 9,
    "milliarden": 9,
    "milliards": 9,
    "b": 9,
    "trillion": 12,
    "tn": 12,
}
# these letters are units as well; they are magnitudes only next to a currency, or as a reading
LETTER_MAGNITUDES = frozenset({"m", "b", "k"})


def _read_rows() -> tuple[dict[str, tuple[Unit, ...]], dict[str, tuple[Unit, ...]]]:
    symbols: defaultdict[str, list[Unit]] = defaultdict(list)
    words: defaultdict[str, list[Unit]] = defaultdict(list)
    for row in _ROWS.strip().split("\n"):
        head, symbol_column, word_column = row.split("|")
        canonical, system, factor, *offset = head.split()
        worth = (canonical, system, Fraction(factor), Fraction(offset[0] if offset else 0))
        for symbol in symbol_column.split():
            symbols[symbol.replace("_", " ")].append(Unit(*worth, symbol_column.split()[0]))
        for word in word_column.split():
            name = word.replace("_", " ")
            words[name].append(Unit(*worth, word_column.split()[0].replace("_", " ")))
            words[f"{name}s"].append(words[name][-1])
    return _tuples(symbols), _tuples(words)


def _tuples(rows: dict[str, list[Unit]]) -> dict[str, tuple[Unit, ...]]:
    return {name: tuple(units) for name, units in rows.items()}


SYMBOLS, WORDS = _read_rows()
CURRENCY_SYMBOLS = tuple(
    name for name, units in SYMBOLS.items() if all(unit.system == "money" for unit in units)
)


def longest_first(names: Iterable[str]) -> str:
    """A pattern of the names, as a tree of their letters, that tries the longest first."""
    return _letter_tree(sorted(set(names)))


def _letter_tree(names: list[str]) -> str:
    """The pattern of sorted names, each once."""
    if len(names) < 2:
        return "".join(map(re.escape, names))
    branches: dict[str, list[str]] = {}
    for name in names:
        branches.setdefault(name[:1], []).append(name[1:])
    ends = branches.pop("", None) is not None
    tree = "|".join(re.escape(first) + _letter_tree(rest) for first, rest in branches.items())
    return f"(?:{tree}|)" if ends else f"(?:{tree})" if len(branches) > 1 else tree


def per(over: Unit, under: Unit) -> Unit:
    """The unit that one unit per another makes: kilometres per hour."""
    rounding = [unit.system for unit in (over, under) if unit.system not in ("metric", "time")]
    return Unit(
        f"{over.canonical}/{under.canonical}",
        rounding[0] if rounding else "metric",
        over.factor / under.factor,
        Fraction(0),
        f"{over.written}/{under.written}",
    )
