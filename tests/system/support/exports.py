"""Tables as a bank exports them, with what exports have: gaps, categories,
dates, decimal commas, umlauts, lists and texts."""

import csv
import datetime

from support import np

COUNTRIES = ["DE", "AT", "CH", "FR", "IT", "NL", "PL", "ES", "SE", "DK", "CZ",
             "BE"]
BRANCHES = [f"Filiale {place}" for place in (
    "K\u00f6ln", "M\u00fcnchen", "Stra\u00dfburg", "Z\u00fcrich", "Ulm", "Bonn")]
PRODUCTS = ["giro", "depot", "kredit", "b\u00f6rse"]
NOTES = ["Kunde seit langem", "viele \u00dcberweisungen in kurzer Zeit",
         "neu er\u00f6ffnet", "R\u00fcckfrage offen", ""]
FIRST_DAY = datetime.date(2010, 1, 1)


def ids(path):
    """The ids of a table, in its order."""
    with path.open(encoding="utf-8") as table:
        return [row["account_id"] for row in csv.DictReader(
            table, delimiter=";")]


def comma(value):
    return f"{value:.2f}".replace(".", ",")


def account(random, name, fraud, known):
    """One row. Frauds are younger accounts with small balances, and notes of
    their own, on the average."""
    days = random.integers(4000, 5400) if fraud else random.integers(0, 5400)
    opened = FIRST_DAY + datetime.timedelta(days=int(days))
    balance = random.lognormal(4 if fraud else 7, 1)
    gap = random.random(4) < 0.05
    products = [p for p in PRODUCTS if random.random() < 0.4]
    note = 1 if fraud and random.random() < 0.5 else random.integers(
        len(NOTES))
    return [name, f"J\u00fcrgen {name}", f"0{random.integers(10**9)}",
            "" if gap[0] else comma(balance),
            "" if gap[1] else str(random.integers(18, 90)),
            "" if gap[2] else COUNTRIES[random.integers(len(COUNTRIES))],
            BRANCHES[random.integers(len(BRANCHES))],
            "" if gap[3] else opened.strftime("%d.%m.%Y"),
            "|".join(products), NOTES[note],
            "nein" if fraud and random.random() < 0.7 else "ja",
            ("fraud" if fraud else "ok") if known else ""]


HEAD = ["account_id", "holder", "phone", "balance", "age", "country", "branch",
        "opened", "products", "notes", "verified", "class"]


def write_table(path, head, rows):
    with path.open("w", encoding="utf-8", newline="") as table:
        out = csv.writer(table, delimiter=";")
        out.writerow(head)
        out.writerows(rows)


def write_payments(random, path, names, count):
    ends = random.integers(0, len(names), (count, 2))
    write_table(path, ["from", "to", "booked", "amount"],
                ([names[a], names[b], f"2024-{1 + i % 12:02}-01",
                  comma(1 + i % 500)] for i, (a, b) in enumerate(ends)))


def write(folder, accounts, payments):
    """Writes accounts.csv and payments.csv, and those of tomorrow, which have
    no classes, another order of columns and values that were not there."""
    random = np.random.default_rng(4)
    rows = [account(random, f"A{i:06}", i % 20 == 0, i % 3 > 0)
            for i in range(accounts)]
    names = [row[0] for row in rows]
    write_table(folder / "accounts.csv", HEAD, rows)
    write_payments(random, folder / "payments.csv", names, payments)

    rows = [account(random, f"B{i:06}", i % 20 == 0, False)
            for i in range(accounts // 10)]
    rows[0][5] = "NO"
    order = [8, 0, 3, 4, 5, 6, 7, 9, 10, 1]
    write_table(folder / "accounts-tomorrow.csv", [HEAD[i] for i in order],
                ([row[i] for i in order] for row in rows))
    write_payments(random, folder / "payments-tomorrow.csv",
                   [row[0] for row in rows], payments // 10)
