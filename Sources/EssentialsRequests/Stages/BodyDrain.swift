import EssentialsHTTP

/// Reads a body that nobody wants to its end, if that is near, so that its connection can be used again.
struct BodyDrain: Sendable {
    /// The most bytes that are read. Opening a new connection is cheaper than reading more.
    private static let limit = 64 << 10
    /// The longest time to spend on that.
    private static let time = Duration.seconds(1)

    let clock: any Clock<Duration>

    /// Returns when the body was read, or is cancelled. What goes wrong while reading is nobody's concern any more.
    func drain(_ body: ResponseBody) async {
        guard case .stream(let source) = body.content else { return }
        await withTaskGroup { group in
            group.addTask { await Self.read(source) }
            group.addTask {
                // Throws when the reader is done.
                guard (try? await clock.sleep(for: Self.time, tolerance: nil)) != nil else { return }
                source.abandon()
            }
            await group.next()
            group.cancelAll()
        }
    }

    private static func read(_ source: any ResponseBody.Source) async {
        var count = 0
        while count <= limit {
            guard let chunk = try? await source.next() else { return }
            count += chunk.count
        }
        source.abandon()
    }
}
