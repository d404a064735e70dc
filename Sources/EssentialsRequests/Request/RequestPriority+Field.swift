import EssentialsHTTP

extension RequestPriority {
    private static let name = HTTPField.Name("Priority")

    /// The field that tells a server (RFC 9218, 5); nil for the normal one, which is what none means.
    var field: HTTPField? {
        guard self != .normal, let name = Self.name else { return nil }
        return HTTPField(name: name, value: "u=\(urgency)")
    }
}
