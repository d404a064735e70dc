import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Logging
import TestTools
import Testing

@testable import EssentialsRequests

/// What observers are told of one call, event by event.
@Suite("What observers are told", .timeLimit(.minutes(5)))
struct ObserverStoriesTests {
    private static let begun = ["began GET https://h/a", "prepared GET https://h/a"]
    private static let sent = begun + ["attempt 1: sent GET https://h/a"]

    // MARK: Without a body to read

    @Test("A plain request")
    func plain() async throws {
        let observed = try ObservedService()
        await observed.send(DataRequest(.get, "a"))
        #expect(observed.story == Self.sent + ["attempt 1: 200", "received 200", "ended: completed"])
    }

    @Test("A query is hidden, and so are the values of secret fields")
    func secrets() async throws {
        let link = try #require(HTTPField.Name("Link"))
        let secretive: HTTPFields = [
            .setCookie: "a=s3cret", .location: "/b?code=s3cret", .contentLocation: "https://h/?x=s3cret",
            link: "<https://h/?x=s3cret>; rel=next",
        ]
        let observed = try ObservedService { request in
            request.url.path == "/a"
                ? .status(.ok, secretive)
                : CacheOrigin.Reply(
                    status: request.url.path == "/b" ? .found : .notFound, fields: secretive, body: "s3cret")
        }
        observed.service.setAuthorization(try .bearer("s3cret"))
        await observed.send(DataRequest(.get, "a?key=s3cret", headerFields: [.cookie: "b=s3cret"]))
        #expect(observed.story.first == "began GET https://h/a?…")
        for event in observed.timelines.all[0].events {
            switch event.kind {
            case .sent(let request):
                #expect(request.headerFields[.authorization] == "…" && request.headerFields[.cookie] == "…")
                #expect(request.headerFields[.userAgent] == "test/1" && request.url == "https://h/a?…")
            case .head(let response): #expect(response.headerFields[.setCookie] == "…")
            default: break
            }
        }
        // `/b` is redirected to itself until there are too many redirects, and `/c` fails with a body.
        await observed.send(DataRequest(.get, "b"), DataRequest(.get, "c"))
        for event in observed.timelines.all.flatMap(\.events) {
            switch event.kind {
            case .redirected(let hop): #expect(hop.to == "https://h/b?…")
            case .ended(let ending):
                guard let response = ending.failure?.response else { break }
                #expect(response.body.isEmpty && response.head.headerFields[.setCookie] == "…")
                #expect(response.head.headerFields[.location] == "/b?…")
                #expect(response.head.headerFields[link] == "<https://h/?…")
            default: break
            }
        }
        #expect(observed.timelines.all.count == 3)
        var dumped = ""
        dump(observed.timelines.all, to: &dumped)
        #expect(!"\(observed.stories)".contains("s3cret") && !dumped.contains("s3cret"))
    }

    @Test("Redirects, to the same origin and to another one")
    func redirects() async throws {
        let observed = try ObservedService { request in
            switch request.url.path {
            case "/a": .status(.found, [.location: "/b"])
            case "/b": .status(.temporaryRedirect, [.location: "https://other/c"])
            default: .status(.ok)
            }
        }
        await observed.send(DataRequest(.get, "a"))
        let hops = [
            "attempt 1: 302", "redirected by 302 to https://h/b", "attempt 2: sent GET https://h/b", "attempt 2: 307",
            "redirected by 307 to https://other/c", "attempt 3: sent GET https://other/c", "attempt 3: 200",
        ]
        #expect(observed.story == Self.sent + hops + ["received 200", "ended: completed"])
    }

    @Test("An unexpected status, and a failure of the transport")
    func failures() async throws {
        let observed = try ObservedService { request in
            request.url.path == "/a"
                ? .status(.notFound)
                : CacheOrigin.Reply(failure: RequestFailure(.connection, "Refused."))
        }
        await observed.send(DataRequest(.get, "a"), DataRequest(.post, "b"))
        #expect(observed.stories[0] == Self.sent + ["attempt 1: 404", "ended: failed, status"])
        #expect(
            observed.stories[1] == [
                "began POST https://h/b", "prepared POST https://h/b", "attempt 1: sent POST https://h/b",
                "attempt 1: failed, connection", "ended: failed, connection",
            ])
    }

    @Test("Retries, until one succeeds and until none is left")
    func retries() async throws {
        let count = Mutex(0)
        let observed = try ObservedService { request in
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            return .status(number == 1 || request.url.path == "/b" ? .serviceUnavailable : .ok)
        } _: {
            $0.retry = .attempts(2)
            $0.clock = .system
        }
        await observed.send(DataRequest(.get, "a"), DataRequest(.get, "b"))
        let second = ["attempt 2: sent GET https://h/a", "attempt 2: 200", "received 200", "ended: completed"]
        #expect(observed.stories[0] == Self.sent + ["attempt 1: 503", "retrying after status"] + second)
        let ends = ["attempt 2: 503", "ended: failed, status"]
        #expect(observed.stories[1].suffix(2) == ends && observed.stories[1].contains("retrying after status"))
    }

    @Test("Requests that are refused before anything is sent")
    func refused() async throws {
        struct Refusal: Error {}
        let lines = LogLines()
        let observed = try ObservedService { _ in
            .status(.ok)
        } _: {
            $0.logger = lines.logger(.debug)
            $0.interceptors = [Intercepting { draft in if draft.request.path == "no" { throw Refusal() } }]
        }
        await observed.send(DataRequest(.get, "https://other/a"), DataRequest(.get, "no"))
        await observed.send(DataRequest(.get, "a", headerFields: [.cacheControl: "only-if-cached"]))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await observed.send(DataRequest(.get, "a"))
        }
        await task.value
        await observed.service.shutdown()
        await observed.send(DataRequest(.get, "a"))
        #expect(
            observed.stories == [
                ["began GET -", "ended: failed, invalidRequest"],
                ["began GET https://h/no", "ended: failed, invalidRequest"],
                ["began GET https://h/a", "ended: failed, notCached"],
                ["began GET https://h/a", "ended: failed, cancelled"],
                ["began GET https://h/a", "ended: failed, closed"],
            ])
        // The log has messages of the calls that could begin.
        #expect(lines.messages == ["request failed", "request failed", "request failed"])
        #expect(observed.origin.count == 0)
        #expect(Set(observed.timelines.all.compactMap { $0.call?.id }).count == 5)
    }

    @Test("A request that is cancelled while the server has it, with a token and with a handler")
    func cancelled() async throws {
        let (arrived, hold) = (OneShot<Void>(), OneShot<Void>())
        let observed = try ObservedService { _ in
            arrived.provide(())
            _ = await hold.valueUnlessCancelled()
            return .status(.ok)
        }
        let ended = OneShot<Void>()
        let token = observed.service.send(DataRequest(.get, "a")) { _ in ended.provide(()) }
        await arrived.valueUnlessCancelled()
        token.cancel()
        await ended.valueUnlessCancelled()
        #expect(observed.story.first == "began GET https://h/a" && observed.story.last == "ended: failed, cancelled")
        #expect(observed.stories.count == 1 && observed.timelines.running.isEmpty)
    }

    @Test("A change of the environment that cancels a request, and the account that is left while one runs")
    func changes() async throws {
        let arrivals = Mutex(0)
        let hold = OneShot<Void>()
        let environment = try MutableEnvironment("https://h/", name: "one")
        let observed = try ObservedService(
            { _ in
                arrivals.withLock { $0 += 1 }
                _ = await hold.valueUnlessCancelled()
                return .status(.ok)
            }, in: environment
        ) {
            $0.onEnvironmentChange = .cancelRequests
        }
        let first = Task { await observed.send(DataRequest(.get, "a")) }
        await until { arrivals.withLock { $0 } == 1 }
        environment.set(try ConstantEnvironment("https://other/", name: "two").snapshot)
        await first.value
        #expect(observed.story.first == "began GET https://h/a in one")
        #expect(observed.story.last == "ended: failed, cancelled")
        observed.service.setAuthorization(try .bearer("s3cret"))
        let second = Task { await observed.send(DataRequest(.get, "a")) }
        await until { arrivals.withLock { $0 } == 2 }
        await observed.service.clearAuthorization()
        hold.provide(())
        await second.value
        #expect(observed.story.first == "began GET https://other/a in two")
        #expect(observed.stories.count == 2 && observed.timelines.running.isEmpty)
        #expect(observed.timelines.all.map(\.isComplete) == [true, true])
        #expect(!"\(observed.stories)".contains("s3cret"))
    }

    @Test("A handler form has the same events as an awaited call")
    func handler() async throws {
        let observed = try ObservedService()
        let ended = OneShot<Void>()
        observed.service.send(DataRequest(.get, "a")) { _ in ended.provide(()) }
        await ended.valueUnlessCancelled()
        #expect(observed.story == Self.sent + ["attempt 1: 200", "received 200", "ended: completed"])
    }

    // MARK: Bodies

    private func streamed(_ path: String = "a") -> DataRequest {
        var request = DataRequest(.get, path)
        request.options.delivery = .streamed
        return request
    }

    private static let streamedStart = sent + ["attempt 1: 200, streamed", "received 200, streamed"]

    @Test("A streamed body that is read, dropped, cut off, and ended by a shutdown")
    func streams() async throws {
        let observed = try ObservedService { request in
            request.url.path == "/cut"
                ? CacheOrigin.Reply(stream: PiecesSource(["abc"], failure: RequestFailure(.interrupted, "Cut.")))
                : CacheOrigin.Reply(stream: PiecesSource(["abc", "de"]))
        }
        for try await _ in try await observed.service.send(streamed()).body {}
        #expect(observed.story == Self.streamedStart + ["ended: completed after 5 bytes"])
        do { _ = try await observed.service.send(streamed()).body }
        await observed.ended(2)
        #expect(observed.story == Self.streamedStart + ["ended: dropped after 0 bytes"])
        await #expect(throws: RequestFailure.self) {
            for try await _ in try await observed.service.send(streamed("cut")).body {}
        }
        #expect(observed.story.last == "ended: failed, interrupted after 3 bytes")
        let body = try await observed.service.send(streamed()).body
        await observed.service.shutdown()
        await #expect(throws: RequestFailure.self) { for try await _ in body {} }
        #expect(observed.story.last == "ended: failed, cancelled after 0 bytes")
        #expect(observed.stories.count == 4 && observed.timelines.running.isEmpty)
    }

    @Test("A download, and one whose file cannot be written")
    func downloads() async throws {
        let directory = try ScratchDirectory()
        let observed = try ObservedService { _ in CacheOrigin.Reply(stream: PiecesSource(["abc", "de"])) }
        try await observed.service.download(DataRequest(.get, "a"), to: directory("film"))
        #expect(observed.story == Self.streamedStart + ["ended: completed after 5 bytes"])
        _ = try? await observed.service.download(DataRequest(.get, "a"), to: directory("missing/film"))
        #expect(observed.story.first == "began GET https://h/a" && observed.story.last == "ended: failed, file")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try? await observed.service.download(DataRequest(.get, "a"), to: directory("film"))
        }
        await task.value
        #expect(observed.story == ["began GET https://h/a", "ended: failed, cancelled"])
        #expect(observed.stories.count == 3)
    }

    @Test("Bodies go only to observers that ask for them, up to their limit")
    func bodies() async throws {
        final class Bodies: RequestObserver {
            let bodyLimit: Int
            let seen = Mutex<[String]>([])
            init(_ limit: Int) { bodyLimit = limit }
            func observe(_ event: RequestEvent) {
                guard case .body(let body) = event.kind else { return }
                let text = String(decoding: body.bytes, as: UTF8.self)
                seen.withLock { $0.append("\(body.isOfResponse) \(text)\(body.isTruncated ? "…" : "")") }
            }
        }
        let (none, short, long) = (Bodies(0), Bodies(3), Bodies(100))
        let observed = try ObservedService { request in
            request.url.path == "/s"
                ? CacheOrigin.Reply(stream: PiecesSource(["abc", "de"])) : CacheOrigin.Reply(body: "reply")
        } _: {
            $0.observers += [none, short, long]
        }
        await observed.send(DataRequest(.post, "a", body: .text("question")))
        for try await _ in try await observed.service.send(streamed("s")).body {}
        #expect(none.seen.withLock { $0 } == [])
        #expect(short.seen.withLock { $0 } == ["false que…", "true rep…", "true abc…"])
        #expect(long.seen.withLock { $0 } == ["false question", "true reply", "true abcde"])
        #expect(!observed.stories.joined().contains { $0.contains("body") })
    }

    // MARK: Stages

    @Test("The response cache: a miss, a hit, a validation, a bypass and a validation in the background")
    func cache() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=60"]
        let observed = try ObservedService {
            CacheOrigin.reply(to: $0, tag: "\"1\"", fields, body: "one")
        } _: {
            $0.cache = ResponseCache()
        }
        var validating = DataRequest(.get, "a")
        validating.cachePolicy = .revalidate
        var bypassing = validating
        bypassing.cachePolicy = .bypass
        await observed.send(DataRequest(.get, "a"), DataRequest(.get, "a"), validating, bypassing)
        let ends = ["received 200", "ended: completed"]
        #expect(observed.stories[0] == Self.sent + ["attempt 1: 200", "cache: missed, stored"] + ends)
        #expect(observed.stories[1] == Self.begun + ["cache: hit, stored"] + ends)
        #expect(observed.stories[2] == Self.sent + ["attempt 1: 304", "cache: validated, stored"] + ends)
        #expect(observed.stories[3] == Self.sent + ["attempt 1: 200", "cache: bypassed"] + ends)
        observed.origin.clock.advance(by: .seconds(20))
        await observed.send(DataRequest(.get, "a"))
        await observed.ended(6)
        #expect(observed.stories.contains(Self.begun + ["cache: stale, stored"] + ends))
        let background = ["began GET https://h/a, in the background"] + Self.sent.dropFirst()
        #expect(observed.stories.contains(background + ["attempt 1: 304", "cache: validated, stored"] + ends))
    }

    @Test("A request that shares the response of an equal one")
    func joined() async throws {
        let (arrived, hold) = (OneShot<Void>(), OneShot<Void>())
        let observed = try ObservedService { _ in
            arrived.provide(())
            _ = await hold.valueUnlessCancelled()
            return .status(.ok)
        } _: {
            $0.joins = true
        }
        let leader = Task { await observed.send(DataRequest(.get, "a")) }
        await arrived.valueUnlessCancelled()
        let follower = Task { await observed.send(DataRequest(.get, "a")) }
        await until { observed.timelines.running.contains { $0.events.last?.description.hasPrefix("joined") == true } }
        hold.provide(())
        await leader.value
        await follower.value
        let ends = ["received 200", "ended: completed"]
        #expect(
            Set(observed.stories) == [
                Self.sent + ["attempt 1: 200"] + ends, Self.begun + ["joined an equal request"] + ends,
            ])
    }

    @Test("A token that is fetched, and one that is replaced after a refusal")
    func tokens() async throws {
        let fixture = CountingProvider()
        let observed = try ObservedService { request in
            request.headerFields[.authorization] == "Bearer t2"
                ? .status(.ok) : .status(.unauthorized, [.wwwAuthenticate: "Bearer"])
        }
        observed.service.setAuthorization(.tokens(fixture))
        await observed.send(DataRequest(.get, "a"))
        let token = ["waited for token", "authorized by a token"]
        let second = ["attempt 2: sent GET https://h/a", "attempt 2: 200", "received 200", "ended: completed"]
        #expect(
            observed.story == Self.begun + token + ["attempt 1: sent GET https://h/a", "attempt 1: 401"] + token
                + second)
    }

    @Test("The answer to a challenge")
    func challenge() async throws {
        let observed = try ObservedService { request in
            request.headerFields[.authorization] != nil
                ? .status(.ok)
                : .status(
                    .unauthorized, [.wwwAuthenticate: #"Digest realm="x", nonce="y", qop="auth", algorithm=SHA-256"#])
        }
        observed.service.setAuthorization(try .digest(user: "ada", password: "s3cret", hash: .openSSL))
        await observed.send(DataRequest(.get, "a"))
        let second = ["attempt 2: sent GET https://h/a", "attempt 2: 200", "received 200", "ended: completed"]
        #expect(observed.story == Self.sent + ["attempt 1: 401", "authorized by a challenge"] + second)
    }

    @Test("A wait for the limits of the origin, and a breaker that opens and refuses")
    func limits() async throws {
        var breaker = CircuitBreaker()
        breaker.minimumOutcomes = 1
        let (arrived, hold) = (OneShot<Void>(), OneShot<Void>())
        let observed = try ObservedService { request in
            guard request.url.path == "/a" else { return .status(.badGateway) }
            arrived.provide(())
            _ = await hold.valueUnlessCancelled()
            return .status(.ok)
        } _: { [breaker] in
            $0.limits = OriginLimits(concurrency: 1, breaker: breaker)
        }
        let origin = try RequestURL("https://h/").origin
        let first = Task { await observed.send(DataRequest(.get, "a")) }
        await arrived.valueUnlessCancelled()
        let second = Task { await observed.send(DataRequest(.get, "b")) }
        await until { observed.service.limits?.state(of: origin).waiting == 1 }
        hold.provide(())
        await first.value
        await second.value
        await observed.send(DataRequest(.get, "c"))
        #expect(
            observed.stories[1] == [
                "began GET https://h/b", "prepared GET https://h/b", "waited for limits",
                "attempt 1: sent GET https://h/b", "attempt 1: 502", "breaker of https://h: open",
                "ended: failed, status",
            ])
        #expect(
            observed.stories[2] == [
                "began GET https://h/c", "prepared GET https://h/c", "ended: failed, circuitOpen",
            ])
    }

    @Test("Failures that are a part of another one are shown without their bodies and secret fields too")
    func nestedFailures() throws {
        let head = HTTPResponse(status: .unauthorized, headerFields: [.setCookie: "s3cret", .server: "shown"])
        let response = FailedResponse(head: head, body: Data("s3cret".utf8))
        let inner = RequestFailure(.status, "Inner.", response: response)
        let outer = RequestFailure(.authorization, "Outer.", underlying: inner).changed { $0.earlier = [inner] }
        let shown = Redaction().shown(outer)
        for failure in try [#require(shown.underlying as? RequestFailure), #require(shown.earlierFailures.first)] {
            #expect(failure.response?.body.isEmpty == true && failure.response?.head.headerFields[.setCookie] == "…")
            #expect(failure.response?.head.headerFields[.server] == "shown")
        }
    }

    @Test("Cookies that are refused, and fields of several places")
    func cookies() async throws {
        let observed = try ObservedService { _ in
            .status(.ok, [.setCookie: "a=1; Domain=other.example"])
        } _: {
            $0.cookies = CookieJar()
        }
        await observed.send(DataRequest(.get, "a", headerFields: [.contentLength: "3"]))
        #expect(observed.story.contains("cookies refused: 1"))
        #expect(observed.story.contains("fields passed over: Content-Length"))
    }
}
