// Simple charts as SVG: bars for groups, a line for dates. Each has its figures in words.

import { el, svg } from "./dom.js";
import { isDate, isNumber } from "./table.js";

const WIDTH = 480;
const MOST = 40;

// The chart that a result's shape suggests, or null: one label, one number, two rows or more.
export function suggested(columns, rows) {
  if (rows.length < 2 || rows.length > MOST || columns.length < 2 || columns.length > 4) return null;
  const value = columns.findLastIndex((column) => isNumber(column.type) && !/(^|_)id$/i.test(column.name));
  const label = columns.findIndex((column, number) => number !== value && (!isNumber(column.type) || /year|month|day|quarter|week/i.test(column.name)));
  if (value < 0 || label < 0) return null;
  if (columns.filter((column) => isNumber(column.type)).length > 2) return null;
  const points = rows.map((row) => ({ label: row[label] === null ? "null" : String(row[label]), value: Number(row[value]) }));
  if (points.some((point) => !Number.isFinite(point.value))) return null;
  const dated = isDate(columns[label].type) || points.every((point) => /^\d{4}(-\d\d){0,2}$/.test(point.label));
  const title = `${columns[value].name} by ${columns[label].name}`;
  return dated ? line(points, title) : bars(points, title);
}

export function figure(value) {
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Math.abs(value) < 0.01 ? value.toPrecision(3) : value.toLocaleString("en", { maximumFractionDigits: 2 });
}

export function bars(points, title, format = figure) {
  const step = 26;
  const left = 132;
  const most = Math.max(...points.map((point) => Math.abs(point.value)), 0) || 1;
  const room = WIDTH - left - 76;
  const drawn = points.map((point, number) => {
    const width = Math.max((Math.abs(point.value) / most) * room, 1);
    const y = number * step + 4;
    return svg("g", {},
      svg("text", { x: left - 8, y: y + 13, "text-anchor": "end" }, cut(point.label, 20)),
      point.value === 0 ? null : svg("rect", { x: left, y, width, height: step - 8, rx: 3, class: point.value < 0 ? "bar below" : "bar" }),
      svg("text", { x: left + width + 6, y: y + 13, class: "figure" }, format(point.value)));
  });
  return framed(drawn, points.length * step + 4, title, points, format);
}

export function line(points, title, format = figure) {
  const sorted = [...points].sort((a, b) => (a.label < b.label ? -1 : 1));
  const [left, right, top, height] = [56, WIDTH - 16, 14, 150];
  const values = sorted.map((point) => point.value);
  const [low, high] = [Math.min(...values, 0), Math.max(...values, 0)];
  const span = high - low || 1;
  const x = (number) => left + (sorted.length === 1 ? 0 : (number / (sorted.length - 1)) * (right - left));
  const y = (value) => top + height - ((value - low) / span) * height;
  const path = sorted.map((point, number) => `${number ? "L" : "M"}${x(number).toFixed(1)} ${y(point.value).toFixed(1)}`).join("");
  const every = Math.ceil(sorted.length / 6);
  return framed([
    [low, (low + high) / 2, high].map((value) => [
      svg("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "grid" }),
      svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, format(value)),
    ]),
    svg("path", { d: path, class: "line" }),
    sorted.map((point, number) => svg("circle", { cx: x(number), cy: y(point.value), r: 3, class: "dot" }, svg("title", {}, `${point.label}: ${format(point.value)}`))),
    sorted.map((point, number) => (number % every ? null : svg("text", { x: x(number), y: top + height + 18, "text-anchor": number ? "middle" : "start" }, cut(point.label.slice(0, 10), 10)))),
  ], top + height + 26, title, sorted, format);
}

function framed(drawn, height, title, points, format) {
  const words = points.slice(0, 40).map((point) => `${point.label}: ${format(point.value)}`).join("; ");
  return el("figure", { class: "chart" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `${title}. ${words}` }, drawn),
    el("figcaption", {}, title));
}

export function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
