import EssentialsRequests

/// Names that lead to a part of a document, such as `data.items`.
struct NestedPath: Sendable {
    let names: [String]

    /// - Parameter text: The names with points in between; `nil` or an empty text for the whole document.
    init?(_ text: String?) {
        guard let text else { return nil }
        names = text.split(separator: ".").map(String.init)
        if names.isEmpty { return nil }
    }

    /// The path for the decoding in the current task. A codec creates its decoder itself, so the path cannot be passed
    /// to it.
    @TaskLocal static var current: NestedPath?
}

/// Decodes a model from the part of a document that ``NestedPath/current`` names.
struct NestedModel<Model: Decodable & Sendable>: Decodable, Sendable {
    let model: Model

    init(from decoder: any Decoder) throws {
        guard let path = NestedPath.current, let last = path.names.last else {
            model = try Model(from: decoder)
            return
        }
        var container = try decoder.container(keyedBy: NestedKey.self)
        for name in path.names.dropLast() {
            container = try container.nestedContainer(keyedBy: NestedKey.self, forKey: NestedKey(stringValue: name))
        }
        model = try container.decode(Model.self, forKey: NestedKey(stringValue: last))
    }
}

private struct NestedKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}
