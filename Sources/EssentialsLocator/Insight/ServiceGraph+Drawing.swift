import EssentialsTools

extension ServiceGraph {
    /// A drawing as SVG, with a box for each locator.
    ///
    /// The color of a registration is that of its kind, which a letter names too: S strong, L lazy, T transient, A async, W weak,
    /// P weak proxy. One that is not built is dashed. The classes `locator`, `service`, `kind-lazy` and so on allow a page to
    /// choose other colors. The same graph always makes the same text.
    ///
    /// ```swift
    /// try Data(locator.graph().svg.utf8).write(to: URL(filePath: "services.svg"))
    /// ```
    public var svg: String {
        let layout = GraphLayout(self)
        let nodes = Dictionary(layout.nodes.map { ($0.registration.id, $0) }) { first, _ in first }
        let (width, height) = (Self.text(layout.width), Self.text(layout.height))
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
                + "viewBox=\"0 0 \(width) \(height)\" font-family=\"sans-serif\" font-size=\"12\">"
        ]
        lines += layout.boxes.map(Self.drawing)
        for edge in edges {
            if let from = nodes[edge.from], let to = nodes[edge.to] { lines.append(Self.drawing(from, to)) }
        }
        lines += layout.nodes.map(Self.drawing)
        return (lines + ["</svg>"]).joined(separator: "\n")
    }

    private static func drawing(_ box: GraphLayout.Box) -> String {
        let name = box.name.map { "“\($0)”".escapedForMarkup } ?? "other locators"
        return "<g class=\"locator\"><rect x=\"1\" y=\"\(text(box.y + 1))\" width=\"\(text(box.width - 2))\" "
            + "height=\"\(text(box.height - 2))\" rx=\"6\" fill=\"none\" stroke=\"#888\"/>"
            + "<text x=\"14\" y=\"\(text(box.y + 22))\" fill=\"#666\">\(name)</text></g>"
    }

    /// A line from a registration to one that it was built from.
    private static func drawing(_ from: GraphLayout.Node, _ to: GraphLayout.Node) -> String {
        let isDown = to.y > from.y
        let start = from.y + (isDown ? GraphLayout.nodeHeight : 0)
        let end = to.y + (isDown ? 0 : GraphLayout.nodeHeight)
        let bend = (start + end) / 2
        return "<path class=\"edge\" d=\"M\(text(from.middle)) \(text(start))C\(text(from.middle)) \(text(bend)) "
            + "\(text(to.middle)) \(text(bend)) \(text(to.middle)) \(text(end))\" fill=\"none\" stroke=\"#999\"/>"
    }

    private static func drawing(_ node: GraphLayout.Node) -> String {
        let registration = node.registration
        let look = look(of: registration.kind)
        let isBuilt = registration.state != .unbuilt
        let label = node.label.count > 30 ? "\(node.label.prefix(29))…" : node.label
        let kind = registration.kind.rawValue.replacing(" ", with: "-")
        return "<g class=\"service kind-\(kind)\"><title>\(title(of: registration).escapedForMarkup)</title>"
            + "<rect x=\"\(text(node.x))\" y=\"\(text(node.y))\" width=\"\(text(node.width))\" "
            + "height=\"\(text(GraphLayout.nodeHeight))\" rx=\"4\" fill=\"\(look.color)\" stroke=\"#555\""
            + (isBuilt ? "/>" : " stroke-dasharray=\"4 3\"/>")
            + "<text x=\"\(text(node.x + 10))\" y=\"\(text(node.y + 23))\" fill=\"#333\" font-weight=\"bold\">\(look.letter)</text>"
            + "<text x=\"\(text(node.x + 28))\" y=\"\(text(node.y + 23))\" fill=\"#111\">\(label.escapedForMarkup)</text></g>"
    }

    private static func title(of registration: Registration) -> String {
        registration.state == .elsewhere
            ? "\(registration.label), of another locator"
            : "\(registration.label): \(registration.kind.rawValue), \(registration.state.rawValue) (\(registration.site))"
    }

    private static func look(of kind: Kind) -> (letter: String, color: String) {
        switch kind {
        case .strong: ("S", "#d7e8fb")
        case .lazy: ("L", "#dcf2dc")
        case .transient: ("T", "#fdebd0")
        case .async: ("A", "#e8def8")
        case .weak: ("W", "#f1f1f1")
        case .weakProxy: ("P", "#fbdede")
        }
    }

    /// A length with at most one decimal.
    private static func text(_ length: Double) -> String {
        let tenths = Int((length * 10).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }
}
