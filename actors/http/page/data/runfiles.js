// What a run leaves behind, as the coordinator hands it out: its definition, and
// what it has measured.

const PATIENCE = 30_000;
const MOST_BYTES = 64 << 20; // Of metrics that the page takes.

async function bytesOf(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
  if (!answer.ok)
    throw new Error((await answer.text()).trim().slice(0, 300) || `it answers ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

export async function definitionOf(run) {
  return new TextDecoder().decode(await bytesOf(`/api/definitions/${encodeURIComponent(run)}`));
}

/** The text of metrics.jsonl: it comes in pieces, the last of which is empty. */
export async function metricsOf(run) {
  const pieces = [];
  let size = 0;
  for (;;) {
    const piece = await bytesOf(`/api/metrics/${encodeURIComponent(run)}?offset=${size}`);
    if (piece.length === 0) break;
    size += piece.length;
    if (size > MOST_BYTES) throw new Error("its metrics are too long for this page");
    pieces.push(piece);
  }
  return new Blob(pieces).text();
}

/** Its lines as objects. One that is just being written is left out. */
export function rowsOf(metrics) {
  const out = [];
  for (const line of metrics.split("\n")) {
    if (line.trim() === "") continue;
    try {
      const row = JSON.parse(line);
      if (row !== null && typeof row === "object" && !Array.isArray(row)) out.push(row);
    } catch { // The last one, most likely.
    }
  }
  return out;
}

function cell(value) {
  if (value === undefined || value === null) return "";
  const said = typeof value === "object" ? JSON.stringify(value) : String(value);
  return /[",\n\r]/.test(said) ? `"${said.replaceAll('"', '""')}"` : said;
}

/** The same as CSV (RFC 4180), with a column for each name that any line has. */
export function csvOf(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const line = (values) => `${values.map(cell).join(",")}\r\n`;
  return line(names) + rows.map((row) => line(names.map((name) =>
    (Object.hasOwn(row, name) ? row[name] : null)))).join("");
}

/** Fields of a definition as the coordinator writes it out (each on a line of its
 * own, sections indented): "sampler.fanouts" -> "[4, 3]". */
export function fieldsOf(definition) {
  const out = new Map();
  const above = []; // [{indent, name}]
  for (const line of definition.split("\n")) {
    const found = /^( *)("(?:[^"\\]|\\.)*"|[^\s:#"-][^:]*):(?: +(.*))?$/.exec(line);
    if (!found) continue;
    const [, { length: indent }, name, value = ""] = found;
    while (above.length > 0 && above.at(-1).indent >= indent) above.pop();
    above.push({ indent, name });
    if (value !== "") out.set(above.map((one) => one.name).join("."), value.trim());
  }
  return out;
}

/** What two definitions do not have in common: [{name, values: [first, second]}];
 * a value that one does not have is empty. */
export function differences(first, second) {
  const names = new Set([...first.keys(), ...second.keys()]);
  return [...names].map((name) => ({ name,
    values: [first.get(name) ?? "", second.get(name) ?? ""] }))
    .filter(({ values: [one, other] }) => one !== other);
}
