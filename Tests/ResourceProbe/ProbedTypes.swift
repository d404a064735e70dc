import ServiceEssentials

private struct Hidden: Codable, Sendable {
    struct Inner: Codable, Sendable {}
}
private struct Generic<Value: Codable & Sendable>: Codable, Sendable { var value: Value }

/// Prints the names under which models of private and local types are stored.
enum ProbedTypes {
    static func run() {
        struct Local: Codable, Sendable {}
        let names = [
            ModelKey<Hidden>("x").type, ModelKey<[Hidden.Inner]>("x").type, ModelKey<Generic<Hidden?>>("x").type,
            ModelKey<Local>("x").type, ModelKey<[String: [Local?]]>("x").type, ModelKey<[Int]>("x").type,
        ]
        for name in names { say(name) }
    }
}
