import EssentialsHTTP
import EssentialsLocator
import EssentialsObservability
import FoundationEssentials

/// What changes in a program, as the text of server-sent events.
///
/// Nothing waits for a reader: each element has what has changed since the last one. A slow reader gets fewer elements, and is told
/// how many exchanges it has missed. It ends when its task is cancelled.
public struct InspectorEvents: AsyncSequence, Sendable {
    /// How often a reader is told what has changed, and how often how the services are.
    fileprivate static let interval = Duration.milliseconds(250), stateInterval = Duration.seconds(1)
    /// A comment is sent this often if nothing else is, so that the server notices that the browser is gone.
    fileprivate static let heartbeat = Duration.seconds(15)

    private let inspector: Inspector
    private let locator: ServiceLocator?
    private let viewer: ViewerCount.Viewer
    private let cursor: HARRecorder.Cursor?

    init(_ inspector: Inspector, _ locator: ServiceLocator?, _ viewer: ViewerCount.Viewer, after last: String?) {
        (self.inspector, self.locator, self.viewer) = (inspector, locator, viewer)
        cursor = last.flatMap(HARRecorder.Cursor.init(id:))
    }

    /// Begins to follow.
    public func makeAsyncIterator() -> AsyncIterator {
        // A new page has in it what had happened before.
        AsyncIterator(inspector, locator, viewer, cursor ?? inspector.recorder.changes(since: .init()).now)
    }

    /// Follows what changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The parts of a report that change as a whole.
        private struct State: Encodable, Equatable {
            var health: InspectorReport.Health?
            var stores: [InspectorReport.Store]?
            var locator: InspectorReport.Drawing?
        }

        private let inspector: Inspector
        private let locator: ServiceLocator?
        private let viewer: ViewerCount.Viewer
        private var cursor: HARRecorder.Cursor
        private var last = ContinuousClock.now
        private var lastState = State()
        private var nextState = ContinuousClock.now
        private var lastSent = ContinuousClock.now
        private var isFirst = true

        init(
            _ inspector: Inspector, _ locator: ServiceLocator?, _ viewer: ViewerCount.Viewer,
            _ cursor: HARRecorder.Cursor
        ) { (self.inspector, self.locator, self.viewer, self.cursor) = (inspector, locator, viewer, cursor) }

        /// The next text; `nil` when the task is cancelled.
        public mutating func next() async -> [UInt8]? {
            while !Task.isCancelled {
                if isFirst {
                    isFirst = false
                    return Array("retry: 1000\n\n".utf8)
                }
                let text = await changes()
                if !text.isEmpty || ContinuousClock.now - lastSent > InspectorEvents.heartbeat {
                    lastSent = .now
                    return Array((text.isEmpty ? ":\n\n" : text).utf8)
                }
                try? await Task.sleep(for: InspectorEvents.interval)
            }
            return nil
        }

        private mutating func changes() async -> String {
            let now = ContinuousClock.now
            let (timelines, end, dropped) = inspector.recorder.changes(since: cursor)
            let (events, stores) = inspector.changes(since: last)
            var text = ""
            if dropped > 0 { text += message("dropped", ["count": dropped], end) }
            let entries = inspector.recorder.detailedEntries(of: timelines)
            if !entries.isEmpty { text += message("entries", entries, end) }
            let since = last
            let recent = InspectorReport.events(
                timelines, events, { inspector.recorder.date(of: $0) }, where: { $0 > since })
            if !recent.isEmpty { text += message("events", recent, end) }
            (cursor, last) = (end, now)
            if now >= nextState {
                nextState = now + InspectorEvents.stateInterval
                let state = State(
                    health: await (locator?.health()).map(InspectorReport.Health.init),
                    stores: stores.isEmpty ? nil : stores,
                    locator: locator.map { InspectorReport.Drawing(svg: $0.graph().svg) })
                if state != lastState { text += message("state", state, end) }
                lastState = state
            }
            return text
        }

        /// A message in one line of data, because JSON has no line breaks.
        private func message(_ name: String, _ value: some Encodable, _ cursor: HARRecorder.Cursor) -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.withoutEscapingSlashes]
            guard let data = try? encoder.encode(value) else { return "" }
            return "id: \(cursor.id)\nevent: \(name)\ndata: \(String(decoding: data, as: UTF8.self))\n\n"
        }
    }
}

extension HARRecorder.Cursor {
    /// The moment as the identifier of an event.
    fileprivate var id: String { "\(revision)-\(endedExchanges)" }

    /// Reads an identifier; `nil` if it is of another kind.
    fileprivate init?(id: String) {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let revision = UInt64(parts[0]), let ended = UInt64(parts[1]) else { return nil }
        self.init(revision: revision, endedExchanges: ended)
    }
}
