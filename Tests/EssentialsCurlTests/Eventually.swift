/// Waits for a condition that depends on another thread, and returns whether it becomes true.
///
/// - Parameter limit: Far more than needed. Only a failing test waits that long.
func eventually(
    within limit: Duration = .seconds(300), _ condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { return false }
        try await Task.sleep(for: .milliseconds(5))
    }
    return true
}
