import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

/// Makes an observer for each call, which writes down what it is asked and told.
private final class Notebook: RequestObserver {
    final class Page: RequestObserver {
        let call: RequestCall
        let lines = Mutex<[String]>([])

        init(_ call: RequestCall) { self.call = call }

        func observe(_ event: RequestEvent) {
            let isOwn = event.call.id == call.id
            lines.withLock { $0.append(isOwn ? "\(event)" : "of another call: \(event)") }
        }

        func fields(of attempt: ObservedAttempt) -> HTTPFields {
            lines.withLock { $0.append("asked for fields of attempt \(attempt.number)") }
            return [.acceptLanguage: "\(call.id.number)"]
        }
    }

    let pages = Mutex<[Page]>([])
    let bodyLimit: Int
    let addsFields: Bool

    init(bodyLimit: Int = 0, addsFields: Bool = false) { (self.bodyLimit, self.addsFields) = (bodyLimit, addsFields) }

    func observer(of call: RequestCall) -> any RequestObserver {
        let page = Page(call)
        pages.withLock { $0.append(page) }
        return page
    }

    func observe(_ event: RequestEvent) { Issue.record("\(event) was told to the shared observer") }
}

/// Passes the events of all calls on to another observer, without asking it for observers of calls.
private struct Forwarding: RequestObserver {
    let other: any RequestObserver
    func observe(_ event: RequestEvent) { other.observe(event) }
}

@Suite("Observers of single calls")
struct CallObserverTests {
    private func lines(_ notebook: Notebook) -> [[String]] {
        notebook.pages.withLock { $0 }.map { page in page.lines.withLock { $0 } }
    }

    @Test("An observer of a call is told its events alone, and is asked for its fields")
    func events() async throws {
        let notebook = Notebook(addsFields: true)
        let sent = Mutex<[String?]>([])
        let observed = try ObservedService { request in
            sent.withLock { $0.append(request.headerFields[.acceptLanguage]) }
            return .status(.ok)
        } _: {
            $0.observers += [notebook]
        }
        for path in ["a", "b"] { await observed.send(DataRequest(.get, path)) }
        let expected = ["a", "b"].map { path in
            [
                "began GET https://h/\(path)", "prepared GET https://h/\(path)", "asked for fields of attempt 1",
                "attempt 1: sent GET https://h/\(path)", "attempt 1: 200", "received 200", "ended: completed",
            ]
        }
        #expect(lines(notebook) == expected)
        #expect(sent.withLock { $0 } == notebook.pages.withLock { $0 }.map { "\($0.call.id.number)" })
    }

    @Test("Whether bodies are told and fields are added is what the shared observer says")
    func properties() async throws {
        let (with, without) = (Notebook(bodyLimit: 1), Notebook())
        let observed = try ObservedService { _ in
            CacheOrigin.Reply(body: "abc")
        } _: {
            $0.observers += [with, without]
        }
        await observed.send(DataRequest(.get, "a"))
        #expect(lines(with).joined().contains("response body: 1 bytes and more"))
        #expect(!lines(without).joined().contains { $0.contains("body") })
        #expect(!(lines(with) + lines(without)).joined().contains { $0.contains("fields") })
    }

    @Test("A refused call has an observer too")
    func refused() async throws {
        let notebook = Notebook()
        let observed = try ObservedService { _ in
            .status(.ok)
        } _: {
            $0.observers += [notebook]
        }
        await observed.service.shutdown()
        await observed.send(DataRequest(.get, "a"))
        #expect(lines(notebook) == [["began GET https://h/a", "ended: failed, closed"]])
    }

    @Test("Timelines are the same if another observer passes the events on")
    func forwarding() async throws {
        let (direct, forwarded) = (RequestTimelines(), RequestTimelines())
        let observed = try ObservedService {
            $0.url.path == "/b" ? .status(.notFound) : .status(.ok)
        } _: {
            $0.observers += [direct, Forwarding(other: forwarded)]
        }
        for path in ["a", "b", "c"] { await observed.send(DataRequest(.get, path)) }
        #expect(direct.all.count == 3)
        #expect(direct.all.map { $0.events.map(\.description) } == forwarded.all.map { $0.events.map(\.description) })
        #expect(direct.running.isEmpty && forwarded.running.isEmpty)
    }
}
