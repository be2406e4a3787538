"""Tables as a bank exports them, with what exports have: gaps, categories,
dates, decimal commas, umlauts, lists, texts, and rows that are broken."""

import csv
import datetime
import io

from support import np

COUNTRIES = ["DE", "AT", "CH", "FR", "IT", "NL", "PL", "ES", "SE", "DK", "CZ",
             "BE"]
BRANCHES = [f"Filiale {place}" for place in (
    "K\u00f6ln", "M\u00fcnchen", "Stra\u00dfburg", "Z\u00fcrich", "Ulm", "Bonn")]
PRODUCTS = ["giro", "depot", "kredit", "b\u00f6rse"]
NOTES = ["Kunde seit langem", "viele \u00dcberweisungen in kurzer Zeit",
         "neu er\u00f6ffnet", "R\u00fcckfrage offen", ""]
FIRST_DAY = datetime.date(2010, 1, 1)
HEAD = ["account_id", "holder", "phone", "balance", "age", "country", "branch",
        "opened", "products", "notes", "verified", "class"]


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


def line(row):
    """A row as it stands in the file."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";").writerow(row)
    return text.getvalue().encode()


def replaced(row, head, column, value):
    return [value if name == column else old for name, old in zip(head, row)]


def broken(row, head, kind):
    """A line that an account cannot be read from."""
    return [
        line(row[:5]),
        line([*row, "and more"]),
        line(replaced(row, head, "branch", "K\u00f6ln")).decode().encode(
            "latin-1"),
        line(replaced(row, head, "balance", "1.250,00")),
        line(replaced(row, head, "opened", "31.02.2020")),
        line(replaced(row, head, "age", "unbekannt")),
        line(replaced(row, head, "account_id", "")),
        line(head),
    ][kind % 8]


def write_accounts(path, head, rows, broken_rows):
    """Every so many rows, one is broken. Returns the ids of the others."""
    every = len(rows) // broken_rows
    sound = []
    with path.open("wb") as table:
        table.write(line(head))
        for i, row in enumerate(rows):
            if i % every == every - 1 and i // every < broken_rows:
                table.write(broken(row, head, i // every))
                continue
            table.write(line(row))
            sound.append(row[head.index("account_id")])
    return sound


def write_payments(random, path, names, count, broken_rows):
    """Some accounts have no row of their own; the first rows are cut."""
    ends = random.integers(0, len(names), (count, 2))
    with path.open("wb") as table:
        table.write(line(["from", "to", "booked", "amount"]))
        for i, (a, b) in enumerate(ends):
            row = [names[a], "" if i % 10_000 == 9 else names[b],
                   f"2024-{1 + i % 12:02}-01", comma(1 + i % 500)]
            table.write(line(row[:3] if i < broken_rows else row))


def write(folder, accounts, payments, broken_rows):
    """Writes accounts.csv and payments.csv, and those of tomorrow, which have
    no classes, another order of columns and values that were not there. Each
    table has so many rows that are broken. Returns the ids of the accounts
    that can be read, today's and tomorrow's."""
    random = np.random.default_rng(4)
    rows = [account(random, f"A{i:06}", i % 20 == 0, i % 3 > 0)
            for i in range(accounts)]
    today = write_accounts(folder / "accounts.csv", HEAD, rows, broken_rows)
    write_payments(random, folder / "payments.csv", [row[0] for row in rows],
                   payments, broken_rows)

    rows = [account(random, f"B{i:06}", i % 20 == 0, False)
            for i in range(accounts // 10)]
    rows[0][5] = "NO"
    order = [8, 0, 3, 4, 5, 6, 7, 9, 10, 1]
    tomorrow = write_accounts(
        folder / "accounts-tomorrow.csv", [HEAD[i] for i in order],
        [[row[i] for i in order] for row in rows], broken_rows)
    write_payments(random, folder / "payments-tomorrow.csv",
                   [row[0] for row in rows], payments // 10, broken_rows)
    return today, tomorrow
