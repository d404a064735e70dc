import EssentialsHTTP

/// Reads an unwanted body to its end if the end is near, so that its connection can be reused.
struct BodyDrain: Sendable {
    /// The maximum number of bytes to read. Opening a new connection is cheaper than reading more.
    private static let limit = 64 << 10
    /// The longest time to spend on reading.
    private static let time = Duration.seconds(1)

    let clock: any Clock<Duration>

    /// Reads the body and returns when it was read or abandoned. Failures are ignored, because the body is unwanted.
    func drain(_ body: ResponseBody, _ cancellation: Cancellation) async {
        guard case .stream(let source) = body.content else { return }
        let registration = cancellation.add { source.abandon() }
        defer { cancellation.remove(registration) }
        await withTaskGroup { group in
            group.addTask { await Self.read(source) }
            group.addTask {
                // The sleep is cancelled and throws when the reader is done.
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

extension Cancellation {
    /// Reads a body, and stops if the request is cancelled.
    func whileReading<Value, Failure: Error>(
        _ body: ResponseBody, _ read: (ResponseBody) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard case .stream(let source) = body.content else { return try await read(body) }
        let registration = add { source.cancel() }
        defer { remove(registration) }
        return try await read(body)
    }
}
