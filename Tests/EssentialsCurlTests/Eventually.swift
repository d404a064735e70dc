/// Whether a condition becomes true that another thread brings about without saying so.
///
/// - Parameter limit: Far more than it takes; only a test that fails waits for it.
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
