// Reads the packed columns: base64 of zigzag LEB128 varints of differences. Damage never throws; it ends the column.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUE_OF = new Int16Array(128).fill(-1);
for (let i = 0; i < DIGITS.length; ++i) VALUE_OF[DIGITS.charCodeAt(i)] = i;

/** The bytes of a base64 text, up to the first character that is not base64. */
function bytesOf(text) {
  const out = new Uint8Array(Math.floor(text.length * 3 / 4));
  let bits = 0, held = 0, size = 0;
  for (let i = 0; i < text.length; ++i) {
    const code = text.charCodeAt(i);
    const value = code < 128 ? VALUE_OF[code] : -1;
    if (value < 0) break;
    held = (held << 6 | value) & 0xffff;
    bits += 6;
    if (bits >= 8) { bits -= 8; out[size++] = held >> bits & 255; }
  }
  return out.subarray(0, size);
}

/** At most `count` integers of a packed column. A column that is cut off gives fewer. */
export function unpack(text, count) {
  const bytes = bytesOf(typeof text === "string" ? text : "");
  const out = new Float64Array(Math.min(count, bytes.length));
  let at = 0, rows = 0, value = 0;
  while (rows < out.length && at < bytes.length) {
    // Multiplication instead of shifts: a difference can have more than 32 bits.
    let zigzag = 0, weight = 1, byte = 128;
    while (byte >= 128 && at < bytes.length) { byte = bytes[at++]; zigzag += (byte & 127) * weight; weight *= 128; }
    if (byte >= 128) break;
    value += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    out[rows++] = value;
  }
  return out.subarray(0, rows);
}

/**
 * The rows of a table that all columns have: {count, lost, column: Float64Array, ...}, sorted by `begin`. Of rows that begin
 * together the longest comes first, so a span comes before the spans inside it.
 */
export function unpackTable(table, names, valid) {
  const claimed = Math.max(0, Math.floor(Number(table?.count) || 0));
  const columns = names.map((name) => unpack(table?.[name], claimed));
  const whole = Math.min(claimed, ...columns.map((column) => column.length));
  const begin = columns[names.indexOf("begin")];
  const end = columns[names.indexOf("end")] ?? begin;
  const rows = [];
  for (let i = 0; i < whole; ++i) if (valid((name) => columns[names.indexOf(name)][i])) rows.push(i);
  rows.sort((a, b) => begin[a] - begin[b] || end[b] - end[a] || a - b);
  const out = { count: rows.length, lost: claimed - rows.length };
  names.forEach((name, n) => { out[name] = Float64Array.from(rows, (row) => columns[n][row]); });
  return out;
}
