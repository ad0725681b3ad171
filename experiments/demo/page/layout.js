// Where each node stands in the picture of the topology, as box centres and sizes in pixels.

/** Returns {height, boxes: [{x, y, w, h}] by node}. `scale` enlarges texts and boxes for a projector. */
export function layoutOf(run, width, scale) {
  const rows = run.servers.length > 0 && !run.colocated;
  return rows ? inRows(run, width, scale) : inCircle(run, width, scale);
}

function inRows(run, width, scale) {
  const least = 62 * scale;
  const perRow = Math.max(1, Math.floor(width / least));
  const boxes = new Array(run.nodes.length);
  const h = 54 * scale, gap = Math.max(70, 92 * scale);
  const serverRows = Math.ceil(run.servers.length / perRow), workerRows = Math.ceil(run.workers.length / perRow);
  placeRows(run.servers, boxes, width, h, 12 + h / 2, serverRows, scale);
  const workersAt = 12 + serverRows * (h + 12) + gap + h / 2;
  placeRows(run.workers, boxes, width, h, workersAt, workerRows, scale);
  return { height: Math.round(workersAt + workerRows * (h + 12) - h / 2 + 4), boxes };
}

function placeRows(nodes, boxes, width, h, top, rows, scale) {
  const perRow = Math.ceil(nodes.length / Math.max(1, rows));
  nodes.forEach((node, i) => {
    const row = Math.floor(i / perRow);
    const inRow = Math.min(perRow, nodes.length - row * perRow);
    const cell = width / inRow;
    boxes[node.index] = { x: cell * (i % perRow + 0.5), y: top + row * (h + 12), w: Math.min(cell - 8, 128 * scale), h };
  });
}

function inCircle(run, width, scale) {
  const count = Math.max(1, run.workers.length);
  const w = Math.max(56 * scale, Math.min(128 * scale, width / Math.min(count, 6)) - 10), h = 54 * scale;
  // Enough height that the boxes at the sides do not overlap.
  const height = Math.max(290 * scale, count * (h + 12) / 2 + h + 30);
  const boxes = new Array(run.nodes.length);
  const rx = Math.min(width / 2 - w / 2 - 6, 430 * scale), ry = height / 2 - h / 2 - 8;
  const place = (node, angle, share) => {
    boxes[node.index] = { x: width / 2 + rx * share * Math.cos(angle), y: height / 2 + ry * share * Math.sin(angle), w, h };
  };
  const angleOf = (i) => evenAngle(i, count, rx, ry);
  run.workers.forEach((node, i) => place(node, angleOf(i), 1));
  const hostOf = workerOf(run);
  const own = run.servers.filter((server, i) => hostOf(server, i) >= 0);
  const alone = run.servers.filter((server) => !own.includes(server));
  own.forEach((node) => place(node, angleOf(hostOf(node, run.servers.indexOf(node))), count > 6 || width < 480 ? 0.5 : 0.46));
  alone.forEach((node, i) => { place(node, 0, 0); boxes[node.index].y += (i - (alone.length - 1) / 2) * (h + 8); });
  shrinkInner(own, boxes, scale);
  return { height: Math.round(height), boxes };
}

/** Which worker a server is inside of: by their hosts; on a single host by their numbers; -1 for a server of its own. */
function workerOf(run) {
  const apart = new Set(run.workers.map((worker) => worker.host)).size === run.workers.length;
  return (server, i) => (apart ? run.workers.findIndex((worker) => worker.host === server.host) : i < run.workers.length ? i : -1);
}

/** Servers inside of workers are near the centre, so they are smaller. */
function shrinkInner(nodes, boxes, scale) {
  for (const node of nodes) {
    boxes[node.index].w = Math.min(boxes[node.index].w, 74 * scale);
    boxes[node.index].h = 42 * scale;
  }
}

/** Angles that divide an ellipse into equal lengths, from the top. */
function evenAngle(i, count, rx, ry) {
  const parts = 720;
  const lengths = [0];
  for (let k = 1; k <= parts; ++k) {
    const a = (k - 0.5) / parts * 2 * Math.PI;
    lengths.push(lengths[k - 1] + Math.hypot(rx * Math.cos(a), ry * Math.sin(a)));
  }
  const goal = lengths[parts] * i / count;
  let k = 0;
  while (k < parts && lengths[k] < goal) ++k;
  return k / parts * 2 * Math.PI - Math.PI / 2;
}
