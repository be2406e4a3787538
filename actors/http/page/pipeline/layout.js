// Where the actors of a daemon stand in the drawing of its pipeline. Pure: from
// figures to places.

// The way of a batch, and who answers the questions of each stage.
const STAGES = [
  { main: ["sampler", "sampler proxy"],
    beside: ["sampling service", "sampling proxy", "batches of a daemon"] },
  { main: ["fetcher"], beside: ["feature service", "feature proxy", "cache filler"] },
  { main: ["batcher"], beside: ["dispatcher"] },
  { main: ["trainer"], beside: [] },
  { main: ["gradient group"], beside: ["conductor"] },
];
export const KINDS = STAGES.flatMap(({ main, beside }) => [...main, ...beside]);

const BOX = 84;
const LOW_BOX = 62; // Of those that are wide.
const GAP = 16;
const LOW_GAP = 10;
export const NARROW = 640; // Below that, stages stand below each other.
const INDENT = 26;
const MARGIN = 3; // For the outline of the focus.

/** The stages that a daemon has: [{main: kind, beside: [kind]}], with null where
 * one is missing. Kinds that nobody expects stand beside the last one. */
function stagesOf(kinds) {
  const has = new Set(kinds);
  const out = STAGES.map(({ main, beside }) => {
    const mains = main.filter((kind) => has.has(kind));
    return { main: mains[0] ?? null,
      beside: [...mains.slice(1), ...beside.filter((kind) => has.has(kind))] };
  });
  out.at(-1).beside.push(...kinds.filter((kind) => !KINDS.includes(kind)).sort());
  return out;
}

function across(stages, width) {
  const gap = width > 1000 ? 44 : 14;
  const w = Math.floor((width - 2 * MARGIN - gap * (stages.length - 1)) / stages.length);
  const nodes = [];
  const wires = [];
  let before = null;
  const above = stages.some(({ main }) => main) ? 1 : 0; // Rows of stages.
  stages.forEach(({ main, beside }, column) => {
    const x = MARGIN + column * (w + gap);
    if (main) {
      const node = { kind: main, x, y: MARGIN, w, h: BOX, side: false };
      if (before)
        wires.push({ from: [before.x + w, MARGIN + BOX / 2], to: [x, MARGIN + BOX / 2],
          kind: before.kind });
      nodes.push(node);
      before = node;
    }
    beside.forEach((kind, row) => {
      const y = MARGIN + (row + above) * (BOX + GAP);
      nodes.push({ kind, x, y, w, h: BOX, side: true });
      if (main)
        wires.push({ from: [x + w / 2, y - GAP], to: [x + w / 2, y], ask: true });
    });
  });
  return { nodes, wires, height: Math.max(...nodes.map(({ y }) => y), 0) + BOX + MARGIN };
}

function below(stages, width) {
  const nodes = [];
  const wires = [];
  let y = MARGIN;
  let end = null; // Of the stage before.
  for (const { main, beside } of stages) {
    if (main) {
      nodes.push({ kind: main, x: MARGIN, y, w: width - 2 * MARGIN, h: LOW_BOX, side: false });
      if (end !== null)
        wires.push({ from: [MARGIN + INDENT / 2, end], to: [MARGIN + INDENT / 2, y] });
      y += LOW_BOX;
      end = y;
      y += LOW_GAP;
    }
    for (const kind of beside) {
      nodes.push({ kind, x: MARGIN + INDENT, y, w: width - 2 * MARGIN - INDENT, h: LOW_BOX,
        side: true });
      y += LOW_BOX + LOW_GAP;
    }
  }
  return { nodes, wires, height: y - LOW_GAP + MARGIN };
}

/** @param kinds Of the actors that there are.
 * @return {nodes: [{kind, x, y, w, h, side}], wires: [{from, to, ask}], height} */
export function place(kinds, width) {
  const stages = stagesOf(kinds);
  return width < NARROW ? below(stages, width) : across(stages, width);
}
