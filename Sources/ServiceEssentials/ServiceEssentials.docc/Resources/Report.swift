import ServiceEssentials

/// Collects the lines of one report, and prints them when the scope of the report is closed.
actor Report: Closeable {
    private(set) var lines: [String] = []

    func add(_ line: String) { lines.append(line) }

    func close() {
        for line in lines { print(line) }
    }
}

/// Reports the users in a scope of its own.
func reportUsers(of app: ServiceLocator) async throws {
    try await app.withScope("report") { scope in
        try scope.register(Report(), as: Report.self)
        let report = try scope.resolve(Report.self)  // this scope's own
        let users = try scope.resolve((any UserList).self)  // the app's
        for name in try await users.names() {
            await report.add(name)
        }
    }
}
