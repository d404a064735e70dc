import EssentialsLocator
import FoundationEssentials

/// What changes in a program, as the text of server-sent events.
///
/// Requests never wait for a reader: each element has what has changed since the last one. A slow reader gets fewer elements, and
/// the number of exchanges that it has missed. The sequence ends when its task is cancelled, and when the locator is ending.
public struct InspectorEvents: AsyncSequence, Sendable {
    /// The time between two looks at what has changed. Without changes, a comment shows the server whether the browser is gone.
    fileprivate static let interval = Duration.milliseconds(250), heartbeat = Duration.seconds(1)
    /// The most time between two looks, so that a new request is seen within a second.
    private static let longestInterval = Duration.milliseconds(750)

    /// The time from one look to the next: 20 times as long as the look took, so that a busy program is slowed by a twentieth at
    /// most. A page that changes faster could not be read.
    static func interval(afterLookOf time: Duration) -> Duration {
        Swift.min(Swift.max(interval, time * 20), longestInterval)
    }

    private let inspector: Inspector
    private let locator: ServiceLocator?
    private let viewer: ViewerCount.Viewer
    private let cursor: Inspector.Cursor?

    init(_ inspector: Inspector, _ locator: ServiceLocator?, _ viewer: ViewerCount.Viewer, after moment: String?) {
        (self.inspector, self.locator, self.viewer) = (inspector, locator, viewer)
        cursor = moment.flatMap(Inspector.Cursor.init)
    }

    /// Begins to follow.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(inspector, locator, viewer, cursor) }

    /// Follows what changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let inspector: Inspector
        private let locator: ServiceLocator?
        private let viewer: ViewerCount.Viewer
        private var cursor: Inspector.Cursor?
        private var lastState = InspectorState()
        private var nextLook = ContinuousClock.now
        private var nextState = ContinuousClock.now
        private var lastSent = ContinuousClock.now
        private var isFirst = true

        init(
            _ inspector: Inspector, _ locator: ServiceLocator?, _ viewer: ViewerCount.Viewer,
            _ cursor: Inspector.Cursor?
        ) { (self.inspector, self.locator, self.viewer, self.cursor) = (inspector, locator, viewer, cursor) }

        /// The next text; `nil` when the task is cancelled or the locator is ending.
        public mutating func next() async -> [UInt8]? {
            if isFirst {
                isFirst = false
                return Array("retry: 1000\n\n".utf8)
            }
            while !Task.isCancelled, locator?.isEnding != true {
                let pause = nextLook - .now
                if pause > .zero {
                    try? await Task.sleep(for: pause)
                    continue
                }
                let began = ContinuousClock.now
                let text = await changes()
                nextLook = began + InspectorEvents.interval(afterLookOf: ContinuousClock.now - began)
                guard !text.isEmpty || ContinuousClock.now - lastSent >= InspectorEvents.heartbeat else { continue }
                lastSent = .now
                return Array((text.isEmpty ? ":\n\n" : text).utf8)
            }
            return nil
        }

        private mutating func changes() async -> String {
            let changes = inspector.changes(since: cursor)
            var messages: [String] = []
            if changes.dropped > 0 { messages.append(Self.message("dropped", ["count": changes.dropped])) }
            if !changes.entries.isEmpty { messages.append(Self.message("entries", changes.entries)) }
            if !changes.events.isEmpty { messages.append(Self.message("events", changes.events)) }
            cursor = changes.now
            if ContinuousClock.now >= nextState {
                nextState = .now + .seconds(1)
                let state = await InspectorState(of: locator, changes.stores, after: lastState)
                if let difference = state.difference(from: lastState) {
                    messages.append(Self.message("state", difference))
                }
                lastState = state
            }
            // The last message has the moment, so that a page that has received only some of them receives all again.
            guard let last = messages.popLast() else { return "" }
            return messages.joined() + "id: \(changes.now.text)\n" + last
        }

        /// A message in one line of data, because this JSON has no line breaks.
        private static func message(_ name: String, _ value: some Encodable) -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.withoutEscapingSlashes]
            guard let data = try? encoder.encode(value) else { return "" }
            return "event: \(name)\ndata: \(String(decoding: data, as: UTF8.self))\n\n"
        }
    }
}
