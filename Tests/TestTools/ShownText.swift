import FoundationEssentials

/// Everything that printing and reflection show of a value, at every depth.
package func shown(_ value: some Any) -> String {
    var text = String(describing: value) + String(reflecting: value) + "\(value)"
    dump(value, to: &text)
    func visit(_ child: Any, depth: Int) {
        guard depth < 12 else { return }
        text += String(describing: child) + String(reflecting: child)
        // Reflection shows bytes as numbers.
        if let bytes = child as? Data { text += String(decoding: bytes, as: UTF8.self) }
        if let bytes = child as? [UInt8] { text += String(decoding: bytes, as: UTF8.self) }
        for inner in Mirror(reflecting: child).children { visit(inner.value, depth: depth + 1) }
    }
    visit(value, depth: 0)
    return text
}
