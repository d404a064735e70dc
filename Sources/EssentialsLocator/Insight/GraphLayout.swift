/// The places of the registrations of a graph in a drawing.
///
/// Each locator is a box. In it, a registration stands below those that were built from it: its row is the longest path to it.
/// The order in a row follows the middle of its neighbours. The same graph always has the same places.
struct GraphLayout {
    /// A registration in the drawing. Lengths are pixels.
    struct Node: Hashable {
        let registration: ServiceGraph.Registration
        /// The type and name, without the module of the type.
        let label: String
        var x = 0.0
        var y = 0.0
        let width: Double

        init(_ registration: ServiceGraph.Registration) {
            self.registration = registration
            // The module is left out: the name after it tells services apart.
            let isOfModule = registration.label.prefix { $0 != "." }.allSatisfy {
                $0.isLetter || $0.isNumber || $0 == "_"
            }
            let name = registration.label.drop { $0 != "." }.dropFirst()
            label = isOfModule && !name.isEmpty ? String(name) : registration.label
            // A character of the drawing's font is about seven pixels wide.
            width = min(max(Double(label.count) * 7 + 44, 110), 260)
        }

        var middle: Double { x + width / 2 }
    }

    /// A locator in the drawing; the name is `nil` for registrations of other locators.
    struct Box: Hashable {
        let name: String?
        let y: Double
        var width: Double
        let height: Double
    }

    static let nodeHeight = 36.0
    private static let gap = 24.0, rowGap = 40.0, padding = 20.0, titleHeight = 26.0
    /// A longer row is continued in another one.
    private static let maximumWidth = 1_100.0
    private static let sweeps = 4

    private(set) var nodes: [Node] = []
    private(set) var boxes: [Box] = []
    private(set) var width = 0.0
    private(set) var height = 0.0

    init(_ graph: ServiceGraph) {
        for locator in graph.locators { add(locator.name, locator.registrations, graph.edges) }
        if !graph.elsewhere.isEmpty { add(nil, graph.elsewhere, graph.edges) }
        width = boxes.map(\.width).max() ?? 0
        for index in boxes.indices { boxes[index].width = width }
    }

    private mutating func add(
        _ name: String?, _ registrations: [ServiceGraph.Registration], _ edges: [ServiceGraph.Edge]
    ) {
        let ids = Set(registrations.map(\.id))
        let own = edges.filter { ids.contains($0.from) && ids.contains($0.to) && $0.from != $0.to }
        let rows = Self.lines(of: Self.ordered(Self.rows(registrations, own), own))
        let top = height + (boxes.isEmpty ? 0 : Self.gap)
        let widths = rows.map { row in row.reduce(Self.gap * Double(row.count - 1)) { $0 + $1.width } }
        let inner = widths.max() ?? 0
        var y = top + Self.titleHeight + Self.padding
        for (row, width) in zip(rows, widths) {
            var x = Self.padding + (inner - width) / 2
            for var node in row {
                (node.x, node.y) = (x, y)
                x += node.width + Self.gap
                nodes.append(node)
            }
            y += Self.nodeHeight + Self.rowGap
        }
        let bottom = rows.isEmpty ? y : y - Self.rowGap + Self.padding
        boxes.append(Box(name: name, y: top, width: inner + 2 * Self.padding, height: bottom - top))
        height = bottom
    }

    /// The registrations by the lengths of the longest paths to them. Those on a circle come last.
    private static func rows(_ registrations: [ServiceGraph.Registration], _ edges: [ServiceGraph.Edge]) -> [[Node]] {
        var targets: [UInt64: [UInt64]] = [:]
        var incoming: [UInt64: Int] = [:]
        for edge in edges {
            targets[edge.from, default: []].append(edge.to)
            incoming[edge.to, default: 0] += 1
        }
        var layers: [UInt64: Int] = [:]
        var ready = registrations.map(\.id).filter { incoming[$0] == nil }
        for id in ready { layers[id] = 0 }
        var done = 0
        while done < ready.count {
            let id = ready[done]
            done += 1
            for target in targets[id] ?? [] {
                layers[target] = max(layers[target] ?? 0, (layers[id] ?? 0) + 1)
                incoming[target, default: 1] -= 1
                if incoming[target] == 0 { ready.append(target) }
            }
        }
        let known = Set(ready)
        let last = (ready.compactMap { layers[$0] }.max() ?? -1) + 1
        var rows = [[Node]](repeating: [], count: last + 1)
        for registration in registrations {
            rows[known.contains(registration.id) ? layers[registration.id] ?? 0 : last].append(Node(registration))
        }
        return rows.filter { !$0.isEmpty }
    }

    /// The rows in an order in which few edges cross: each registration near the middle of its neighbours in the row before, and
    /// then in the row after, several times.
    private static func ordered(_ rows: [[Node]], _ edges: [ServiceGraph.Edge]) -> [[Node]] {
        var neighbours: [UInt64: [UInt64]] = [:]
        for edge in edges {
            neighbours[edge.from, default: []].append(edge.to)
            neighbours[edge.to, default: []].append(edge.from)
        }
        var rows = rows
        for sweep in 0..<sweeps where rows.count > 1 {
            let isDown = sweep.isMultiple(of: 2)
            for index in isDown ? Array(1..<rows.count) : Array((0..<rows.count - 1).reversed()) {
                let other = rows[isDown ? index - 1 : index + 1]
                var places: [UInt64: Double] = [:]
                for (place, node) in other.enumerated() {
                    places[node.registration.id] = (Double(place) + 0.5) / Double(other.count)
                }
                let row = rows[index]
                let wanted = row.enumerated().map { place, node in
                    let near = (neighbours[node.registration.id] ?? []).compactMap { places[$0] }
                    // A registration without neighbours stays where it is.
                    return near.isEmpty
                        ? (Double(place) + 0.5) / Double(row.count) : near.reduce(0, +) / Double(near.count)
                }
                rows[index] = zip(wanted, row.indices).sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { row[$0.1] }
            }
        }
        return rows
    }

    private static func lines(of rows: [[Node]]) -> [[Node]] {
        rows.flatMap { row -> [[Node]] in
            var lines: [[Node]] = [[]]
            var width = 0.0
            for node in row {
                if width > 0, width + node.width > maximumWidth {
                    lines.append([])
                    width = 0
                }
                lines[lines.count - 1].append(node)
                width += node.width + gap
            }
            return lines
        }
    }
}
