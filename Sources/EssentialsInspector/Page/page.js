(() => {
  "use strict";
  const maxEntries = 500, maxEvents = 2000, maxBody = 200000;
  const $ = (id) => document.getElementById(id);
  // Makes an element. Texts go in as text nodes, never as markup. A function is a listener.
  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (typeof value === "function") node.addEventListener(name, value);
      else if (value !== undefined && value !== null) node.setAttribute(name, value);
    }
    node.append(...children.flat(4).filter((child) => child !== undefined && child !== null && child !== false));
    return node;
  }
  const styled = (node, styles) =>
    (Object.entries(styles).forEach(([name, value]) => node.style.setProperty(name, value)), node);
  const array = (value) => (Array.isArray(value) ? value : []);
  const number = (value) => (Number.isFinite(value) ? value : 0);
  const string = (value) => (value === undefined || value === null ? "" : String(value));
  // Shows the characters that turn the writing direction, so that a name cannot look like another.
  const escape = (mark) => `\\u${mark.charCodeAt(0).toString(16)}`;
  const visible = (value) => string(value).replace(/[\u202a-\u202e\u2066-\u2069]/g, escape);
  const seconds = (value) => (Number.isFinite(value) ? `${value.toFixed(1)} s` : "");
  const milliseconds = (value) => (!(value >= 0) ? "" : value >= 1000 ? `${(value / 1000).toFixed(2)} s`
    : `${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)} ms`);
  const bytes = (value) => (!(value >= 0) ? "" : value < 1000 ? `${value} B`
    : value < 1e6 ? `${(value / 1e3).toFixed(1)} KB` : `${(value / 1e6).toFixed(1)} MB`);
  const clock = (at) => { // local date and time with milliseconds
    const date = new Date(at ?? NaN), local = new Date(date - date.getTimezoneOffset() * 60000);
    return Number.isNaN(local.getTime()) ? "" : local.toISOString().slice(0, 23).replace("T", " ");
  };
  // ---- The model ----
  let data = {};
  try { data = JSON.parse($("data").textContent) ?? {}; } catch { $("note").textContent = "The data is not JSON."; }
  const records = new Map(); // key -> record, the oldest first
  const calls = new Map(); // call -> { no, last, members }
  const dirty = new Set(); // records whose row must be filled again
  const events = array(data.events).slice(-maxEvents);
  let base, nextCall = 1, nextKey = 1, dropped = 0;
  let selected, shown = [], test = () => true, sortBy = "no", sortDown = false, telling;
  // What the table, the filter and the sorting need to know of an entry.
  function inspect(entry) {
    const request = entry.request ?? {}, response = entry.response ?? {}, failure = entry._failure;
    const url = visible(request.url), status = number(response.status), source = string(entry._source);
    const [, host = "", path = url, query = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? [];
    const running = entry._isRunning === true, failed = Boolean(failure) || status >= 400 || (!status && !running);
    const body = number(response.content?.size), type = string(response.content?.mimeType).split(";")[0].trim();
    const sent = response.bodySize >= 0 ? response.bodySize : body;
    const word = running ? "running" : status ? string(response.statusText) : "failed";
    const start = Date.parse(entry.startedDateTime);
    if (!Number.isNaN(start)) base ??= start;
    return {
      url, host, path: path || "/", query, status, source, running, failed, word, method: string(request.method),
      state: running || !status ? word : `${status} ${word}`.trim(), call: string(entry._call),
      start: Number.isNaN(start) ? 0 : start - base, time: Math.max(0, number(entry.time)),
      type: type.replace(/^(application|text|image)\//, ""), size: source ? body : sent, received: source ? 0 : sent,
      kind: running ? "running" : status ? `s${Math.floor(status / 100)}` : "failed",
      flags: [failed && "failed", running && "running", source === "cache" ? "cached" : source].filter(Boolean),
      text: [url, request.method, status || "", word, failure?.reason, failure?.message].join(" ").toLowerCase(),
    };
  }
  // Adds an entry, or replaces the one with the same call, attempt and source.
  function put(entry, mayReplace) {
    if (typeof entry !== "object" || entry === null) return;
    const known = entry._call !== undefined;
    let key = known ? [entry._call, entry._attempt ?? 1, entry._source ?? "sent"].join("/") : `entry/${nextKey++}`;
    if (records.has(key) && !mayReplace) key += `/${nextKey++}`;
    let record = records.get(key);
    if (!record) {
      const group = known ? entry._call : key, call = calls.get(group) ?? { no: nextCall++, last: 0, members: [] };
      const row = el("tr", { "data-key": key, tabindex: -1, "aria-selected": "false" });
      record = { key, group, call, row, hop: ++call.last };
      call.members.push(record);
      calls.set(group, call);
      records.set(key, record);
      if (records.size > maxEntries) forget(records.values().next().value);
    }
    Object.assign(record, { entry, info: inspect(entry) });
    dirty.add(record);
  }
  function forget({ key, group, call, row }) {
    dirty.delete(records.get(key));
    records.delete(key);
    row.remove();
    call.members = call.members.filter((other) => other.key !== key);
    if (!call.members.length) calls.delete(group);
  }
  const name = ({ call, hop }) => (hop > 1 ? `${call.no}.${hop}` : `${call.no}`); // "7", then "7.2"
  // ---- Rows and waterfall ----
  // The phases in order. HAR counts TLS as a part of connect, so it is taken out here.
  function phaseList(entry) {
    const times = entry.timings ?? {}, ssl = Math.max(0, number(times.ssl));
    const pair = (phase) => [phase, number(times[phase]) - (phase === "connect" ? ssl : 0)];
    return "blocked dns connect ssl send wait receive".split(" ").map(pair).filter(([, length]) => length > 0);
  }
  const swatch = (phase, kind) => el("span", { class: `part ${kind}`, "data-phase": phase });
  function bar({ entry, info }) {
    const list = phaseList(entry), long = Math.max(info.time, list.reduce((sum, [, length]) => sum + length, 0));
    const lines = [["starts at", Math.max(0, info.start)], ...list, ["total", info.time]]
      .map(([word, length]) => `${word} ${milliseconds(length)}`);
    const kind = info.running ? "running" : info.source ? "unsent" : info.status ? "" : "failed";
    const part = ([phase, length]) => styled(swatch(phase, ""), { width: `${(length / long) * 100}%` });
    const look = { class: `bar ${kind}`, role: "img", "aria-label": lines.join(", ") };
    const node = styled(el("div", look, info.source ? [] : list.map(part)), { "--at": info.start, "--long": long });
    return el("td", { class: "c-start", title: lines.join("\n") }, node);
  }
  function fillRow(record) {
    const { row, info, entry, hop } = record;
    const cell = (column, text) => el("td", { class: `c-${column}` }, text);
    const piece = (kind, text) => el("span", { class: kind }, text);
    const before = record.call.members[record.call.members.indexOf(record) - 1];
    const tag = info.source || (before?.info.kind === "s3" ? "redirect"
      : before || entry._attempt > 1 ? `attempt ${entry._attempt ?? hop}` : "");
    Object.assign(row.dataset, { status: info.status, kind: info.kind, hop });
    row.replaceChildren(cell("no", name(record)), cell("method", info.method),
      el("td", { class: "c-url", title: info.url }, el("div", { class: "address" }, piece("host", info.host),
        piece("path", info.path), piece("query", info.query.slice(0, 200)), tag && piece("tag", tag))),
      el("td", { class: "c-status", title: entry._failure?.message ?? info.state },
        info.state === info.word ? info.word : [String(info.status), piece("word", ` ${info.word}`)]),
      cell("type", info.type), cell("size", info.status ? bytes(info.size) : ""),
      cell("time", milliseconds(info.time)), bar(record));
  }
  function compare(a, b) {
    const value = ({ info, call }) => ({ no: call.no, url: info.host + info.path }[sortBy] ?? info[sortBy]);
    const x = value(a), y = value(b);
    const order = (x < y ? -1 : x > y ? 1 : 0) || a.call.no - b.call.no || a.hop - b.hop;
    return sortDown ? -order : order;
  }
  // Puts the rows that pass the filter in order. Rows that are in place are not touched.
  function layout() {
    const body = $("rows").tBodies[0], focused = document.activeElement;
    shown = [...records.values()].filter((record) => test(record.info)).sort(compare);
    const keep = new Set(shown.map((record) => record.row));
    for (const row of [...body.rows]) if (!keep.has(row)) row.remove();
    let at = body.firstChild;
    for (const row of keep) at = row === at ? at.nextSibling : (body.insertBefore(row, at), at);
    shown.forEach(({ row, call }, index) => {
      row.classList.toggle("tie-up", shown[index - 1]?.call === call);
      row.classList.toggle("tie-down", shown[index + 1]?.call === call);
      row.tabIndex = -1;
    });
    if (shown.length) (keep.has(selected?.row) ? selected : shown[0]).row.tabIndex = 0;
    if (keep.has(focused) && document.activeElement !== focused) focused.focus({ preventScroll: true });
    $("count").textContent = `${shown.length} of ${records.size}`;
    $("empty").textContent = shown.length ? "" : records.size ? "No exchange passes the filter." : "No exchanges.";
    drawAxis();
  }
  function spanOf(list) {
    const first = list.reduce((least, { info }) => Math.min(least, info.start), Infinity);
    const last = list.reduce((most, { info }) => Math.max(most, info.start + info.time), first);
    return list.length ? [first, last] : [0, 0];
  }
  function drawAxis() {
    const [first, last] = spanOf(shown), width = Number($("window").value);
    const from = width ? last - width : first, span = Math.max(1, last - from) * 1.02;
    const power = 10 ** Math.floor(Math.log10(span / 5)), percent = (at) => `${(at / span) * 100}%`;
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= 6);
    const label = (at) => (at < 1000 ? `${+at.toFixed(2)} ms` : `${+(at / 1000).toFixed(2)} s`);
    styled($("rows"), { "--from": from, "--span": span, "--tick": percent(step) });
    $("axis").replaceChildren(...Array.from({ length: Math.ceil(span / step) }, (_, index) =>
      styled(el("span", {}, label(index * step)), { left: percent(index * step) })));
  }
  function summarize() {
    const all = [...records.values()], [first, last] = spanOf(all), failed = all.filter(({ info }) => info.failed);
    const received = bytes(all.reduce((sum, { info }) => sum + info.received, 0)), span = milliseconds(last - first);
    $("summary").textContent =
      [`${all.length} exchanges`, `${failed.length} failed`, `${received} received`, span].join(" \u00b7 ");
  }
  // ---- Filter ----
  function parseFilter(text) {
    const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
      const [, not, field, value] = /^(-?)(status|method|is|call):(.*)$/.exec(word) ?? [];
      if (!value) return field ? () => true : (info) => info.text.includes(word);
      const match = {
        status: (info) => [...value].every((digit, index) => digit === "x" || String(info.status)[index] === digit),
        is: (info) => info.flags.some((flag) => flag.startsWith(value)),
        method: (info) => info.method.toLowerCase() === value, call: (info) => info.call.toLowerCase() === value,
      }[field];
      return not ? (info) => !match(info) : match;
    });
    return (info) => tests.every((one) => one(info));
  }
  function applyFilter() {
    test = parseFilter($("filter").value);
    layout();
    clearTimeout(telling);
    telling = setTimeout(() => { $("announce").textContent = `${$("count").textContent} exchanges shown`; }, 250);
  }
  // ---- Pieces of the detail and of the other tabs ----
  const quiet = (text) => el("p", { class: "quiet" }, text);
  const section = (title, ...nodes) => [el("h3", {}, title), ...nodes];
  const items = (list, tag = "ul") => list.length > 0 && el(tag, {}, list.map((item) => el("li", {}, item)));
  function fields(list, none) {
    const some = list.filter(([, value]) => value !== false && string(value) !== "");
    if (!some.length && none) return quiet(none);
    return el("dl", { class: "fields" }, some.map(([label, value]) => [el("dt", {}, label), el("dd", {}, value)]));
  }
  const pairs = (list) => array(list).map((item) => [visible(item?.name), visible(item?.value) || "\u2014"]);
  const callLink = (record, text) => el("button", { type: "button", class: "link", click: () => open(record) }, text);
  const colours = { failed: "bad", degraded: "bad", "half open": "warn", "open circuit": "bad" };
  const state = (word) => el("span", { class: colours[word] ?? "good" }, string(word));
  const pairText = (list) => list.map((pair) => pair.join(": ")).join(", ");
  // How some kinds of columns show their values. The others show the value as it is.
  const formats = {
    seconds, bytes, milliseconds, state, day: (at) => clock(at).slice(0, 19), clock: (at) => clock(at).slice(11),
    circuit: (word) => state({ open: "open circuit", halfOpen: "half open" }[word] ?? word),
    flag: (is) => (is ? "yes" : "no"), list: (list) => items(array(list), "ol"),
    call: (call) => (calls.has(call) ? callLink(calls.get(call).members[0], call) : call),
    scopes: (list) => pairText(array(list).map((scope) => [scope.name, scope.rows])),
    facts: (list) => pairText(Object.entries(list ?? {})),
    phase: (phase) => el("span", { class: "swatch-row" }, swatch(phase, "swatch"), phase),
  };
  // Columns are written "Label=key:kind, ...".
  const columnsOf = (text) => text.split(/,\s+/).map((column) => {
    const [, label, key, kind = ""] = /^(.*)=(\w+):?(\w*)$/.exec(column);
    const style = /^(num|seconds|bytes|milliseconds|clock)$/.test(kind) ? "num" : kind === "text" ? "text" : "fix";
    return { label, key, style, format: formats[kind] ?? string };
  });
  const line = (item, columns) =>
    el("tr", {}, columns.map(({ key, style, format }) => el("td", { class: style }, format(item[key]))));
  function table(title, list, text) {
    if (!array(list).length) return section(title, quiet("None."));
    const columns = columnsOf(text), body = el("tbody", {}, list.map((item) => line(item ?? {}, columns)));
    const heads = columns.map(({ label, style }) => el("th", { scope: "col", class: style }, label));
    return section(title, el("div", { class: "wide" }, el("table", { class: "plain-table", "aria-label": title },
      el("thead", {}, el("tr", {}, heads)), body)));
  }
  const fieldsOf = (item, text) => fields(columnsOf(text).map(({ label, key, format }) => [label, format(item[key])]));
  // Indents JSON token by token, so that numbers, order and broken text stay as they are.
  function indentJSON(text) {
    const out = el("pre"), tokens = /"(?:[^"\\]|\\[^])*"?|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g;
    let depth = 0, run = "", last = ""; // last is a string of which it is not yet known if it is a key
    const newLine = (step) => "\n" + "  ".repeat(Math.min(depth = Math.max(0, depth + step), 30));
    for (const [token] of text.matchAll(tokens)) {
      const mark = token[0], isKey = mark === ":" && last;
      if (isKey) out.append(run, el("span", { class: "key" }, last));
      run = isKey ? "" : run + last;
      last = mark === '"' ? token : "";
      if (last) continue;
      const opens = "{[".includes(mark), closes = "}]".includes(mark);
      run += opens && token.length > 1 ? mark + token.at(-1) : opens ? mark + newLine(1) : closes ? newLine(-1) + mark
        : mark === "," ? mark + newLine(0) : mark === ":" ? ": " : token;
    }
    out.append(run + last);
    return out;
  }
  function bodyOf(part, size) {
    let text = string(part?.text), raw;
    if (!text) return quiet(size > 0 ? `The body of ${bytes(size)} was not kept.` : "No body.");
    const notes = part._truncated ? [quiet("Only the first part of the body was kept.")] : [];
    if (part.encoding === "base64") {
      try {
        raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        text = new TextDecoder("utf-8", { fatal: true }).decode(raw);
      } catch {
        notes.push(quiet(raw ? `Binary, ${bytes(raw.length)}. The first 512 bytes:` : "This base64 text is broken."));
        const hex = array(raw && [...raw.subarray(0, 512)]).map((byte) => byte.toString(16).padStart(2, "0"));
        if (raw) return [notes, el("pre", {}, hex.join(" "))];
      }
    }
    if (text.length > maxBody) notes.push(quiet(`Only ${maxBody} of ${text.length} characters are shown.`));
    text = text.slice(0, maxBody);
    const isJSON = /json/i.test(string(part.mimeType)) || /^\s*[[{]\s*["\]}{[]/.test(text);
    return [notes, isJSON ? indentJSON(text) : el("pre", {}, text)];
  }
  // ---- Detail ----
  const views = {
    overview({ entry, info, call }) {
      const { _failure: failure, serverIPAddress: address } = entry, response = entry.response ?? {};
      const link = entry._connection ?? (address && { address });
      const others = call.members.map((other) => [
        other.entry === entry ? `${name(other)} (this one)` : callLink(other, name(other)),
        `${other.info.state}, ${milliseconds(other.info.time)}, ${other.info.method} ${other.info.path}`]);
      const times = phaseList(entry).map(([phase, length]) => `${phase} ${milliseconds(length)}`);
      return [failure && el("div", { class: "failure" }, el("p", { class: "bad" }, failure.reason),
        el("p", {}, failure.message), failure.remedy && el("p", {}, `What to do: ${failure.remedy}`)),
      section("Exchange", fields([["URL", info.url], ["Method", info.method], ["Status", info.state],
        ["Protocol", response.httpVersion], ["Redirects to", response.redirectURL], ["Call", info.call],
        ["Attempt", entry._attempt], ["Not sent", info.source], ["Cache", entry._cacheStatus],
        ["Type", response.content?.mimeType], ["Body", bytes(response.content?.size)],
        ["Received", bytes(info.received)]])),
      others.length > 1 && section("Same call", fields(others)),
      section("Times", fields([["Started", clock(entry.startedDateTime)], ["Total", milliseconds(info.time)],
        ["Phases", items(times)]])),
      link && section("Connection", fieldsOf(link, "Protocol=protocol, Address=address, Port=port, " +
        "Used before=isReused:flag, TLS version=tlsVersion, TLS cipher=tlsCipher, Chain=chain:list, Pin=pin"))];
    },
    request({ entry }) {
      const request = entry.request ?? {}, query = pairs(request.queryString), body = request.postData;
      return [section("Fields", fields(pairs(request.headers), "No fields.")),
        query.length > 0 && section("Query", fields(query)),
        section("Body", body && quiet(body.mimeType), bodyOf(body, request.bodySize))];
    },
    response: ({ entry: { response } }) => [
      section("Fields", fields(pairs(response?.headers), response?.status ? "No fields." : "No response.")),
      section("Body", bodyOf(response?.content, response?.content?.size))],
    timing({ entry, info }) {
      let at = info.start;
      const rows = phaseList(entry).map(([phase, length]) => ({ phase, length, from: (at += length) - length }))
        .concat({ phase: "total", length: info.time, from: info.start });
      return table("Phases", rows, "Phase=phase:phase, Starts at=from:milliseconds, Takes=length:milliseconds");
    },
    curl({ entry }) {
      if (!entry._curl) return section("Command", quiet("There is no command for this exchange."));
      const code = el("pre", { id: "command" }, entry._curl), note = el("span", { role: "status", class: "quiet" });
      const mark = () => { getSelection().selectAllChildren(code); return "Selected. Press Ctrl+C or Command+C."; };
      const write = async () => { await navigator.clipboard.writeText(code.textContent); return "Copied."; };
      const click = () => write().catch(mark).then((text) => { note.textContent = text; });
      return [el("div", { class: "row" }, el("button", { type: "button", id: "copy", click }, "Copy"), note), code];
    },
    events({ entry, info }) {
      const from = Date.parse(entry.startedDateTime), own = events.filter(({ call }) => call && call === info.call);
      const after = ({ at }) => `${at < from ? "\u2212" : "+"}${milliseconds(Math.abs(at - from))}`;
      const list = own.map((event) => ({ ...event, at: after(event) }));
      return table("Events of the call", list, "Time=at:num, Layer=layer, Text=text:text");
    },
  };
  let view = "overview", panel = "requests";
  function drawDetail() {
    if ($("detail").hidden || !selected) return;
    const { info } = selected, text = `${name(selected)}  ${info.method} ${info.path}`;
    Object.assign($("detail-name"), { textContent: text, title: info.url });
    $("view").setAttribute("aria-labelledby", `view-${view}`);
    $("view").replaceChildren(el("div", {}, views[view](selected)));
  }
  function select(record) {
    for (const { row } of shown) row.tabIndex = -1;
    selected?.row.setAttribute("aria-selected", "false");
    if (selected !== record) $("view").scrollTop = 0;
    selected = record;
    Object.assign(record.row, { ariaSelected: "true", tabIndex: 0 });
    drawDetail();
    record.row.scrollIntoView({ block: "nearest" });
  }
  const open = (record) => { choosePanel("requests"); $("detail").hidden = false; select(record); };
  const close = () => { $("detail").hidden = true; (selected?.row.isConnected ? selected.row : $("filter")).focus(); };
  function move(step) {
    const at = shown.indexOf(selected), to = at < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, at + step));
    if (shown[to]) select(shown[to]);
    if (!$("detail").contains(document.activeElement)) shown[to]?.row.focus({ preventScroll: true });
  }
  // ---- The other tabs ----
  // page.html says which part of the data each box shows, how, and with which columns.
  const shows = {
    table: (list, { label, columns }) => table(label, list, columns),
    facts: (part, { columns }) => el("ul", { class: "facts" }, columnsOf(columns).map(({ label, key, format }) =>
      el("li", {}, `${label} `, el("b", {}, format(part[key]))))),
    graph: (text, { label }) => section(label, graph(text)),
  };
  function drawPanel() {
    for (const box of document.querySelectorAll("[data-from]")) {
      const [part, key] = box.dataset.from.split("."), own = box.parentNode.id === `panel-${panel}`;
      box.hidden = !data[part];
      if (box.hidden || !own) continue;
      const nodes = shows[box.dataset.show](key ? data[part][key] : data[part], box.dataset);
      box.replaceChildren(el("div", {}, nodes));
    }
    for (const tab of $("tabs").children) {
      const boxes = $(`panel-${tab.dataset.tab}`).querySelectorAll("[data-from]");
      tab.hidden = boxes.length > 0 && [...boxes].every((box) => box.hidden);
    }
    $("sick").hidden = !data.health || data.health.status === "ok";
    if ($(`tab-${panel}`).hidden) choosePanel("requests");
  }
  // New events are added at the end of the table; the old rows stay.
  function addEvents(list) {
    const added = array(list).filter((event) => event && typeof event === "object");
    const box = $("panel-events").firstElementChild, body = box.querySelector("tbody");
    events.splice(0, events.push(...added) - maxEvents);
    redrawDetail ||= added.some(({ call }) => call && call === selected?.info.call);
    redraw ||= !data.events || (panel === "events" && !body);
    data.events ??= events;
    if (panel !== "events" || !body) return;
    body.append(...added.map((event) => line(event, columnsOf(box.dataset.columns))));
    while (body.rows.length > maxEvents) body.rows[0].remove();
  }
  // ---- The graph: only known elements and attributes are copied ----
  const svgSpace = "http://www.w3.org/2000/svg", words = (text) => new Set(text.split(" "));
  const svgTags = words("svg g rect path line polyline polygon circle ellipse text tspan title desc marker defs");
  const svgAttributes = words("id class x y x1 y1 x2 y2 cx cy r rx ry d dx dy points width height viewBox transform " +
    "fill fill-opacity stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity opacity " +
    "font-size font-family font-weight font-style text-anchor dominant-baseline marker-start marker-mid marker-end " +
    "refX refY markerWidth markerHeight markerUnits orient preserveAspectRatio role aria-label");
  function copySVG(from, depth) {
    const to = document.createElementNS(svgSpace, from.localName);
    for (const { name: key, value } of from.attributes) {
      // An id gets a prefix, so that it cannot be mistaken for one of this page.
      if (!svgAttributes.has(key) || (/url\s*\(|\\/i.test(value) && !/^url\(#[\w.-]+\)$/.test(value))) continue;
      to.setAttribute(key, key === "id" ? `graph-${value}` : value.replace(/^url\(#/, "url(#graph-"));
    }
    for (const child of from.childNodes) {
      const known = child.namespaceURI === svgSpace && svgTags.has(child.localName);
      if (child.nodeType === Node.TEXT_NODE) to.append(child.data);
      else if (known && depth < 50) to.append(copySVG(child, depth + 1));
    }
    return to;
  }
  function graph(text) {
    const root = new DOMParser().parseFromString(string(text), "image/svg+xml").documentElement;
    if (root.localName !== "svg" || root.namespaceURI !== svgSpace) return quiet("The graph is not an SVG text.");
    return el("div", { class: "graph", tabindex: 0 }, copySVG(root, 0));
  }
  // ---- Tabs: one tab stop, the arrows move and choose ----
  function makeTabs(list, pick) {
    const buttons = [...list.children];
    const marks = (own) => ({ ariaSelected: String(own), tabIndex: own ? 0 : -1 });
    const choose = (key) => {
      for (const button of buttons) Object.assign(button, marks(button.dataset.tab === key));
      pick(key);
    };
    list.addEventListener("click", ({ target }) => target !== list && choose(target.closest("button").dataset.tab));
    list.addEventListener("keydown", (event) => {
      const usable = buttons.filter((button) => !button.hidden), at = usable.indexOf(event.target);
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: usable.length - 1 }[event.key];
      if (to === undefined || at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const button = usable[(to + usable.length) % usable.length];
      choose(button.dataset.tab);
      button.focus();
    });
    return choose;
  }
  const choosePanel = makeTabs($("tabs"), (key) => {
    panel = key;
    for (const other of document.querySelectorAll("main > section")) other.hidden = other.id !== `panel-${key}`;
    drawPanel();
  });
  const chooseView = makeTabs($("views"), (key) => { view = key; drawDetail(); });
  // ---- Keyboard ----
  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { key, target } = event, filter = $("filter"), typing = target.matches("input, select");
    const now = shown.includes(selected) ? selected : shown[0];
    const onRow = target.matches("#rows tbody tr"), free = onRow || target === document.body || target === filter;
    if (key === "/" && !typing) { choosePanel("requests"); filter.select(); }
    else if (panel !== "requests") return;
    else if (key === "Escape" && !$("detail").hidden && !(target === filter && filter.value)) close();
    else if (key === "Escape" && filter.value) applyFilter(filter.value = "");
    else if ((key === "ArrowDown" && free) || (key === "j" && !typing)) move(1);
    else if ((key === "ArrowUp" && free) || (key === "k" && !typing)) move(-1);
    else if ((key === "Home" || key === "End") && onRow) move(key === "Home" ? -Infinity : Infinity);
    else if (key === "Enter" && free && now) { open(now); $(`view-${view}`).focus(); }
    else return;
    event.preventDefault();
  }
  // ---- Live ----
  let frame = 0, redraw = false, redrawDetail = false;
  function schedule() { frame ||= requestAnimationFrame(flush); }
  function flush() {
    frame = 0;
    redrawDetail ||= [...dirty].some((record) => record.call === selected?.call);
    for (const record of dirty) fillRow(record);
    dirty.clear();
    layout();
    summarize();
    if (redrawDetail) drawDetail();
    if (redraw) drawPanel();
    redraw = redrawDetail = false;
  }
  const showLive = (word) => { $("live").dataset.state = $("live").textContent = word; };
  let cursor = data.cursor;
  // A browser gives up when the server refuses it, such as while too many pages follow. This page then asks again.
  function connect(pause = 1000) {
    const source = new EventSource(cursor ? `events?after=${encodeURIComponent(cursor)}` : "events");
    const on = (type, act) => source.addEventListener(type, (event) => {
      cursor = event.lastEventId || cursor;
      try { act(JSON.parse(event.data)); } catch (error) { console.warn(`A bad "${type}" event was skipped.`, error); }
      schedule();
    });
    showLive("reconnecting");
    source.onopen = () => { pause = 1000; showLive("live"); };
    source.onerror = () => {
      const isRefused = source.readyState === EventSource.CLOSED;
      showLive(isRefused ? "refused" : "reconnecting");
      if (isRefused) setTimeout(connect, pause, Math.min(pause * 2, 30000));
    };
    on("entries", (list) => array(list).forEach((entry) => put(entry, true)));
    on("events", addEvents);
    on("state", ({ har, events: more, ...parts }) => { Object.assign(data, parts); redraw = true; });
    on("dropped", ({ count }) => {
      $("dropped").textContent = `${dropped += number(count)} exchanges were dropped because this page is slow.`;
    });
  }
  // ---- Start ----
  const log = data.har?.log ?? {};
  if (log.comment) $("note").textContent = log.comment;
  data.events &&= events;
  $("program").textContent = data.program ?? "HTTP inspector";
  $("made").textContent = clock(data.made).slice(0, 19);
  for (const entry of array(log.entries).slice(-maxEntries)) put(entry, false);
  flush();
  choosePanel(panel), chooseView(view);
  $("filter").addEventListener("input", applyFilter);
  $("window").addEventListener("change", drawAxis);
  $("close").addEventListener("click", close);
  $("rows").tHead.addEventListener("click", ({ target }) => {
    const head = target.closest("th"), column = head.querySelector("button").dataset.sort;
    [sortDown, sortBy] = [sortBy === column && !sortDown, column];
    const word = sortDown ? "descending" : "ascending";
    for (const other of head.parentNode.cells) other.ariaSort = other === head ? word : "none";
    layout();
  });
  $("rows").tBodies[0].addEventListener("click", ({ target }) => open(records.get(target.closest("tr").dataset.key)));
  document.addEventListener("keydown", onKey);
  if (document.body.dataset.live === "true") connect();
})();
