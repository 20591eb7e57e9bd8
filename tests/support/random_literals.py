"""Random texts of PostgreSQL's literals, patterns and units: most valid, some nearly so."""

from datetime import datetime, timedelta
from random import Random

from redask.core.sql.runtime.dates.date_formats import KEYWORDS, timestamp_to_char

MONTHS = "Jan feb MARCH April may June jul Aug Sept sep october Nov December Janu".split()
UNITS = """us usec microseconds ms msec milliseconds s sec secs second seconds m min mins minute
h hr hours hour d day days w week weeks mon mons month months y yr yrs year years dec decade c
century mil millennium quarter foo""".split()
PARTS = """millennium century decade year isoyear quarter month week day dow isodow doy hour minute
second milliseconds microseconds epoch julian y mon hrs c foo timezone""".split()
ZONES = """Europe/Berlin America/New_York Asia/Kolkata UTC australia/sydney Foo/Bar Africa/Cairo
America/Sao_Paulo Pacific/Apia Singapore""".split()
READING = """YYYY-MM-DD|YYYYMMDD|DD/MM/YYYY|MM/DD/YYYY|DD Mon YYYY|Month DD, YYYY|DD-MON-YYYY
|YYYY-MM|YYYY-MM-DD HH24:MI:SS|YYYY-MM-DD"T"HH24:MI:SS|DD.MM.YYYY HH24:MI|YYYY-MM-DD HH:MI AM
|YYYY|YYYY-DDD
|YYYY-MM-DD HH12:MI:SS PM|YYYY-MM-DD HH24:MI:SS.MS|YYYY-MM-DD HH24:MI:SS.US|YYYYMMDDHH24MISS
|YY-MM-DD""".replace("\n", "").split("|")


def digits(random: Random, count: int) -> str:
    return "".join(random.choice("0123456789") for _ in range(count))


def plain_number(random: Random) -> str:
    """A numeric as PostgreSQL writes it."""
    if random.random() < 0.1:
        return random.choice(["0", "1", "-1", "0.00", "0.5", "-0.5", "100", "10000", "0.0001"])
    whole = str(int("0" + digits(random, random.choice([0, 1, 2, 3, 4, 5, 8, 12, 20]))))
    fraction = digits(random, random.choice([0, 0, 1, 2, 2, 3, 5, 8, 16]))
    text = f"{whole}.{fraction}" if fraction else whole
    return f"-{text}" if random.random() < 0.3 and text.strip("0.") else text


def number(random: Random) -> str:
    """A number's literal, or nearly one."""
    mantissa = digits(random, random.randint(0, random.choice([3, 6, 12, 20])))
    point = random.choice(["", "."]) + digits(random, random.randint(0, 5))
    power = random.choice(["", "", "", "e", "e-", "E+"]) + random.choice(["", "", "7", "12"])
    return random.choice(["", "", "-", "+", " "]) + mantissa + point + power + random.choice("  \n")


def word(random: Random) -> str:
    words = "abc|1|t|TRUE| yes |off|of|o|2|y|no |NaN|inf|-Infinity||infinity|+nan|1_0|tru"
    return random.choice(words.split("|"))


def moment(random: Random) -> datetime:
    year = random.choice([random.randint(1960, 2040), random.randint(11, 9990)])
    fraction = random.choice([0, 0, 500_000, random.randint(0, 999_999)])
    found = datetime(year, random.randint(1, 12), random.randint(1, 28))
    found += timedelta(seconds=random.randint(0, 86399), microseconds=fraction)
    if random.random() < 0.3:  # the last of a month
        found = found.replace(day=1) - timedelta(days=1)
    if random.random() < 0.3:
        found = datetime(found.year, found.month, found.day)
    return found


def day_text(random: Random) -> str:
    year = str(random.choice([random.randint(1900, 2100), random.randint(1, 9999)])).zfill(4)
    year = year if random.random() < 0.95 else year[2:]
    month, day = str(random.randint(1, 12)), str(random.randint(1, random.choice([28, 28, 33])))
    if random.random() < 0.6:
        month, day = month.zfill(2), day.zfill(2)
    name = random.choice(MONTHS)
    forms = [f"{year}-{month}-{day}"] * 4 + [f"{year}{month.zfill(2)}{day.zfill(2)}"]
    forms += [f"{month}/{day}/{year}", f"{year}/{month}/{day}", f"{name} {day}, {year}"]
    forms += [f"{name} {day} {year}", f"{day} {name} {year}", f"{day}-{name}-{year}"]
    forms += [f"{year}-{name}-{day}", f"{month}-{day}-{year}", f"{name}-{day}-{year}"]
    return random.choice(forms)


def clock_text(random: Random) -> str:
    text = f"{random.randint(0, random.choice([12, 23, 25])):02d}:{random.randint(0, 60):02d}"
    if random.random() < 0.8:
        text += f":{random.randint(0, random.choice([59, 59, 62])):02d}"
        text += random.choice(["", "", "." + digits(random, random.randint(0, 8))])
    return text + random.choice(["", "", "", "", " PM", "am", " am"])


def zone_text(random: Random) -> str:
    forms = "||||Z|+02|-07:30| +0530| UTC| Europe/Berlin| America/New_York|+5|-16| EST| foo"
    return random.choice(forms.split("|"))


def timestamp_literal(random: Random) -> str:
    if random.random() < 0.05:
        words = "now|epoch|abc|2024|2024-01||12|20240|infinity|2024-01-05 abc|1000|J2451187"
        return random.choice(words.split("|"))
    clock = clock_text(random) + zone_text(random)
    text = day_text(random) + random.choice(["", f" {clock}", f" {clock}", f"T{clock}"])
    return random.choice(["", " "]) + text


def time_literal(random: Random) -> str:
    return clock_text(random) + zone_text(random)


def interval_literal(random: Random) -> str:
    kind = random.random()
    if kind < 0.1:
        days = "".join(f"{random.randint(0, 40)}{each}" for each in "YMWD" if random.random() < 0.5)
        clock = "".join(
            f"{random.randint(0, 40)}.5{each}" for each in "HMS" if random.random() < 0.5
        )
        return f"P{days}T{clock}" if clock else f"P{days}"
    if kind < 0.2:
        tail = random.choice(["", " 3 04:05:06", " 2 days"])
        return f"{random.choice('- ')}{random.randint(0, 9)}-{random.randint(0, 12)}{tail}"
    parts = []
    for _ in range(random.randint(1, 3)):
        fraction = random.choice(["", "", ".5", ".0", "." + digits(random, random.randint(1, 6))])
        amount = f"{random.choice(['', '-', '+'])}{random.randint(0, 400)}{fraction}"
        parts.append(amount + random.choice([" ", " ", ""]) + random.choice(UNITS))
    if random.random() < 0.4:
        clock = f"{random.randint(0, 30)}:{random.randint(0, 60):02d}"
        parts.append(random.choice(["", "-", "+"]) + clock + random.choice(["", ":07.25"]))
    parts += ["ago"] * (random.random() < 0.1)
    return random.choice([" ", " ", ", "]).join(parts)


def array_literal(random: Random) -> str:
    odd = ["1", " 3", "null", '"4"', "a b", '"a\\"b"', "x\\,y", '"NULL"', "", '"', "5 ", "\\NULL"]
    elements = [
        random.choice(odd if random.random() < 0.4 else ["1", "2", "33", "NULL"])
        for _ in range(random.randint(0, 4))
    ]
    start = random.choice(["{", "{", "{", "{ ", " {", "", "{{"])
    return (
        start
        + random.choice([",", " , "]).join(elements)
        + random.choice(["}", "}", "} ", "", "}x"])
    )


def uuid_literal(random: Random) -> str:
    hexadecimal = digits(random, random.choice([32] * 9 + [31])).replace("1", "a").replace("2", "F")
    cuts = random.choice([(8, 12, 16, 20), (), (4, 8), (8, 12, 16, 20), (5,)])
    text = "".join(("-" if place in cuts else "") + each for place, each in enumerate(hexadecimal))
    return random.choice([text, text, "{" + text + "}", "{" + text, text + " "])


def date_pattern(random: Random) -> str:
    return "".join(
        random.choice(["", "", "", "FM", "fm"])
        + random.choice(KEYWORDS)
        + random.choice(["", "", "", "TH", "th"])
        + random.choice(["", " ", "-", ":", "/", ' "at" ', "T", ",", ".", "h"])
        for _ in range(random.randint(1, 4))
    )


def number_pattern(random: Random) -> str:
    pattern = random.choice(["", "", "FM"]) + random.choice([""] * 6 + ["S", "MI", "SG", "PL", "$"])
    whole = "".join(random.choice("99990") for _ in range(random.randint(1, 8)))
    cut = random.randint(0, len(whole))
    pattern += whole[:cut] + random.choice(["", "", ",", "G"]) + whole[cut:]
    if random.random() < 0.6:
        pattern += random.choice("..D")
        pattern += "".join(random.choice("9990") for _ in range(random.randint(0, 4)))
    ends = ["S", "MI", "SG", "PL", "PR", "%", " x", "th", "TH", ' "ab"']
    return pattern + random.choice([""] * 8 + ends)


def reading(random: Random) -> list[str]:
    """A text and a pattern for to_date; the text sometimes does not follow it."""
    pattern = random.choice(READING)
    text = timestamp_to_char(moment(random), pattern)
    kind = random.random()
    if kind < 0.15:
        place = random.randrange(len(text))
        text = text[:place] + random.choice("0123456789- :x") + text[place + 1 :]
    elif kind < 0.3:
        text = random.choice([text + " 1", " " + text, text.replace("0", "")])
    return [text, pattern]
