import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Response cache", .timeLimit(.minutes(5)))
struct CacheStageTests {
    @Test("A fresh response is served without a request, with its age, until its lifetime is over")
    func fresh() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(ResponseCache())
        #expect(try await service.text("a") == "1")
        origin.clock.advance(by: .seconds(59))
        let hit = try await service.response("a")
        #expect(hit.text == "1" && hit.headerFields[.age] == "59")
        #expect(hit.cache?.outcome == .hit && hit.cache?.age == .seconds(59) && hit.cache?.timeLeft == .seconds(1))
        #expect(hit.cacheStatus?.hasPrefix("ServiceEssentials; hit") == true)
        origin.clock.advance(by: .seconds(2))
        #expect(try await service.text("a") == "2")
        #expect(origin.count == 2)
    }

    @Test("A service without a cache sends every request and says nothing about caching")
    func without() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(nil)
        #expect(try await service.text("a") == "1")
        let second = try await service.response("a")
        #expect(second.text == "2" && second.cache == nil && second.cacheStatus == nil)
    }

    @Test("A stale response is validated, and a 304 keeps its body and takes the new fields")
    func validation() async throws {
        let origin = CacheOrigin { CacheOrigin.reply(to: $0, tag: "\"1\"", [.cacheControl: "max-age=10"], body: "one") }
        let service = try origin.service(ResponseCache())
        let first = try await service.response("a")
        origin.clock.advance(by: .seconds(11))
        origin.answer {
            CacheOrigin.reply(
                to: $0, tag: "\"1\"", [.cacheControl: "max-age=100", .contentLanguage: "en"], body: "one")
        }
        let second = try await service.response("a")
        #expect(second.text == "one" && second.status == .ok && second.headerFields[.contentLanguage] == "en")
        #expect(second.cache?.outcome == .validated && second.storedUse == nil)
        #expect(origin.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(second.identity?.body == first.identity?.body)
        #expect(try #require(second.identity).load > (try #require(first.identity)).load)
        origin.clock.advance(by: .seconds(99))
        let hit = try await service.response("a")
        #expect(hit.cache?.outcome == .hit && hit.storedUse == StoredResponseUse(age: .seconds(99)))
        origin.answer { CacheOrigin.reply(to: $0, tag: "\"2\"", [.cacheControl: "max-age=100"], body: "two") }
        origin.clock.advance(by: .seconds(2))
        let third = try await service.response("a")
        #expect(third.text == "two" && third.cache?.outcome == .missed)
        #expect(third.identity?.body != first.identity?.body)
        #expect(origin.count == 3)
    }

    @Test("Only GET and HEAD are answered from the cache, and an unsafe request that succeeds removes its URL")
    func invalidation() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(ResponseCache())
        #expect(try await service.text("a") == "1")
        #expect(try await service.text("b") == "2")
        _ = try await service.send(.post("a", body: ["x": 1]))
        #expect(try await service.text("a") == "4")
        #expect(try await service.text("b") == "2")
        origin.answer { _ in .init(status: .badRequest) }
        _ = try? await service.send(.post("a", body: ["x": 1]))
        #expect(try await service.text("a") == "4")
    }

    @Test("A POST whose fate is unknown removes the response of its URL")
    func unknownFate() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(ResponseCache())
        #expect(try await service.text("a") == "1")
        let answer: CacheOrigin.Handler = { request in
            guard request.method == .post else { return .init(fields: [.cacheControl: "max-age=60"], body: "new") }
            return .init(failure: RequestFailure(.interrupted, "The connection was closed."))
        }
        origin.answer(answer)
        await #expect(throws: RequestFailure.self) { try await service.send(.post("a", body: ["x": 1])) }
        #expect(try await service.text("a") == "new")
    }

    @Test("A response that was requested before an unsafe request ended is not stored after it")
    func overtaken() async throws {
        let gate = LoopbackGate()
        let origin = CacheOrigin { request in
            if request.method == .post { return .init() }
            if request.url.path == "/slow" { await gate.opened() }
            return .init(fields: [.cacheControl: "max-age=60"], body: "before")
        }
        let service = try origin.service(ResponseCache())
        let slow = Task { try await service.text("slow") }
        await until { origin.count == 1 }
        _ = try await service.send(.post("slow", body: ["x": 1]))
        gate.open()
        #expect(try await slow.value == "before")
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60"], body: "after") }
        #expect(try await service.text("slow") == "after")
        #expect(try await service.response("slow").cache?.outcome == .hit)
    }

    @Test("Responses vary by the fields that Vary names, also by cookies that are added below the cache")
    func vary() async throws {
        let origin = CacheOrigin { request in
            .init(
                fields: [.cacheControl: "max-age=60", .vary: "Accept-Language, Cookie"],
                body: (request.headerFields[.acceptLanguage] ?? "-") + (request.headerFields[.cookie] ?? "-"))
        }
        let jar = CookieJar()
        let service = try origin.service(ResponseCache()) { $0.cookies = jar }
        #expect(try await service.text("a", fields: [.acceptLanguage: "de"]) == "de-")
        #expect(try await service.text("a", fields: [.acceptLanguage: "en"]) == "en-")
        #expect(try await service.text("a", fields: [.acceptLanguage: "de"]) == "de-")
        #expect(origin.count == 2)
        jar.store([.setCookie: "s=1; Path=/"], from: try RequestURL("https://h/"))
        #expect(try await service.text("a", fields: [.acceptLanguage: "de"]) == "des=1")
        #expect(try await service.text("a", fields: [.acceptLanguage: "de"]) == "des=1")
        #expect(origin.count == 3)
    }

    @Test("Policies: reload, revalidate, stored ones only, any age, and past the cache")
    func policies() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(ResponseCache())
        #expect(try await service.text("a") == "1")
        #expect(try await service.text("a", .reload) == "2")
        #expect(origin.requests.last?.headerFields[.cacheControl] == "no-cache")
        #expect(try await service.text("a", .revalidate) == "3")
        #expect(origin.requests.last?.headerFields[.cacheControl] == "max-age=0")
        #expect(try await service.text("a", .bypass) == "4")
        #expect(try await service.response("a", .bypass).cache?.outcome == .bypassed)
        #expect(try await service.text("a") == "3")
        #expect(try await service.text("a", .onlyIfStored) == "3")
        origin.clock.advance(by: .seconds(100))
        let stale = await #expect(throws: RequestFailure.self) { try await service.text("a", .onlyIfStored) }
        #expect(stale?.reason == .notCached)
        #expect(try await service.response("a", .preferStored).cache?.outcome == .stale)
        #expect(try await service.text("b", .preferStored) == "6")
        let failure = await #expect(throws: RequestFailure.self) { try await service.text("c", .onlyIfStored) }
        #expect(failure?.reason == .notCached)
        #expect(origin.count == 6)
    }

    @Test("The policy of a request wins over that of its environment and of its service")
    func precedence() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        var settings = RequestSettings()
        settings.cachePolicy = .reload
        let environment = ConstantEnvironment(
            EnvironmentSnapshot(baseURL: try RequestURL("https://h/"), settings: settings))
        let service = try origin.service(ResponseCache(), environment: environment) { $0.cachePolicy = .bypass }
        #expect(try await service.text("a") == "1")
        #expect(try await service.text("a") == "2")
        #expect(try await service.text("a", .standard) == "2")
    }

    @Test("An offline cache serves responses of any age and sends no GET")
    func offline() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=1"])
        let cache = ResponseCache()
        let service = try origin.service(cache)
        #expect(try await service.text("a") == "1")
        cache.isOffline = true
        origin.clock.advance(by: .seconds(1_000))
        #expect(try await service.text("a") == "1")
        let failure = await #expect(throws: RequestFailure.self) { try await service.text("b") }
        #expect(failure?.reason == .notCached && failure?.remedy?.contains("offline") == true)
        cache.isOffline = false
        #expect(try await service.text("a") == "2")
    }

    @Test("An offline cache also answers requests and downloads that would go past it")
    func offlineBypass() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let cache = ResponseCache()
        let service = try origin.service(cache)
        _ = try await service.text("a")
        cache.isOffline = true
        #expect(try await service.text("a", .bypass) == "1")
        await #expect(throws: RequestFailure.self) { try await service.text("b", .bypass) }
        let directory = try ScratchDirectory()
        await #expect(throws: RequestFailure.self) {
            try await service.download(DataRequest(.get, "b"), to: directory.path + "/b")
        }
        #expect(origin.count == 1)
    }

    @Test(
        "A request that accepts only a stored response is not sent, whatever its method and policy",
        arguments: [HTTPRequest.Method.get, .options, .post], [CachePolicy.standard, .bypass])
    func onlyIfCached(method: HTTPRequest.Method, policy: CachePolicy) async throws {
        let origin = CacheOrigin([:])
        var request = DataRequest(method, "a", headerFields: [.cacheControl: "only-if-cached"])
        request.cachePolicy = policy
        let service = try origin.service(ResponseCache())
        let failure = await #expect(throws: RequestFailure.self) { try await service.send(request) }
        #expect(failure?.reason == .notCached && origin.count == 0)
    }

    @Test("A stale response is served instead of a failure if the server allows it, after all retries")
    func staleIfError() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=1, stale-if-error=60"])
        let service = try origin.service(ResponseCache()) { $0.retry = .attempts(2) }
        #expect(try await service.text("a") == "1")
        origin.clock.advance(by: .seconds(10))
        origin.answer { _ in .init(status: .serviceUnavailable) }
        let reading = Task { try await service.response("a") }
        while origin.count < 3 {
            origin.clock.advanceToNextDeadline()
            await Task.yield()
        }
        let stale = try await reading.value
        #expect(stale.text == "1" && stale.status == .ok && stale.cache?.outcome == .stale)
        #expect(origin.count == 3)
        origin.clock.advance(by: .seconds(100))
        origin.answer { _ in .init(status: .notFound) }
        #expect(try await service.response("a").status == .notFound)
    }

    @Test("With stale responses for unreachable servers, a failed connection is answered from the cache")
    func unreachable() async throws {
        var options = ResponseCache.Options()
        options.staleWhenUnreachable = true
        let origin = CacheOrigin([.cacheControl: "max-age=1"])
        let service = try origin.service(ResponseCache(options: options))
        #expect(try await service.text("a") == "1")
        origin.clock.advance(by: .seconds(1_000))
        origin.answer { _ in .init(failure: RequestFailure(.connection, "No route to host.")) }
        #expect(try await service.response("a").cache?.outcome == .stale)
        await #expect(throws: RequestFailure.self) { try await service.text("b") }
    }

    @Test("The caller's own condition is answered with 304 by a fresh response")
    func ownCondition() async throws {
        let origin = CacheOrigin { CacheOrigin.reply(to: $0, tag: "\"1\"", [.cacheControl: "max-age=10"], body: "one") }
        let service = try origin.service(ResponseCache())
        #expect(try await service.text("a") == "one")
        let own = try await service.response("a", fields: [.ifNoneMatch: "\"1\""])
        #expect(own.status == .notModified && own.text.isEmpty && own.headerFields[.eTag] == "\"1\"")
        #expect(try await service.response("a", fields: [.ifNoneMatch: "\"2\""]).status == .ok)
        #expect(origin.count == 1)
        origin.clock.advance(by: .seconds(20))
        #expect(try await service.response("a", fields: [.ifNoneMatch: "\"1\""]).status == .notModified)
        #expect(try await service.response("a").cache?.outcome == .hit)
        #expect(origin.count == 2)
    }

    @Test("Each hop of a redirect is stored by itself")
    func redirects() async throws {
        let origin = CacheOrigin { request in
            request.url.path == "/from"
                ? .init(status: .movedPermanently, fields: [.location: "/to", .cacheControl: "max-age=60"])
                : .init(fields: [.cacheControl: "max-age=60"], body: "here")
        }
        let service = try origin.service(ResponseCache())
        #expect(try await service.text("from") == "here")
        let second = try await service.response("from")
        #expect(second.text == "here" && second.redirects.count == 1 && origin.count == 2)
    }

    @Test("A body that exceeds the limit of the request is a failure for hits too")
    func limits() async throws {
        let origin = CacheOrigin { _ in .init(fields: [.cacheControl: "max-age=60"], body: "0123456789") }
        let service = try origin.service(ResponseCache())
        _ = try await service.text("a")
        var request = DataRequest(.get, "a")
        request.options.delivery = .collected(upTo: 5)
        let failure = await #expect(throws: RequestFailure.self) { try await service.send(request) }
        #expect(failure?.reason == .tooLarge && origin.count == 1)
    }

    @Test("The body of a stored redirect that is followed has no limit, as when it comes from the server")
    func limitOfRedirects() async throws {
        let origin = CacheOrigin { request in
            let body = String(repeating: "x", count: 100)
            return request.url.path == "/from"
                ? .init(
                    status: .movedPermanently, fields: [.location: "/to", .cacheControl: "max-age=60"], body: body)
                : .init(fields: [.cacheControl: "max-age=60"], body: "here")
        }
        let service = try origin.service(ResponseCache())
        var request = DataRequest(.get, "from")
        request.options.delivery = .collected(upTo: 10)
        for _ in 0..<2 { #expect(try await service.send(request).text == "here") }
        #expect(origin.count == 2)
    }

    @Test("A response that grows with each confirmation is removed when it is too large")
    func growingHead() async throws {
        let cache = ResponseCache(memory: .bytes(1 << 20))
        let origin = CacheOrigin { CacheOrigin.reply(to: $0, tag: "\"1\"", [.cacheControl: "max-age=0"], body: "one") }
        let service = try origin.service(cache)
        for number in 0..<200 {
            origin.answer { request in
                var fields: HTTPFields = [.cacheControl: "max-age=0"]
                if let name = HTTPField.Name("X-\(number)") { fields[name] = String(repeating: "x", count: 1_000) }
                return CacheOrigin.reply(to: request, tag: "\"1\"", fields, body: "one")
            }
            #expect(try await service.text("a") == "one")
            #expect(await cache.usage.bytes <= 65_536)
        }
    }

    @Test("Memory is freed for a program that needs it, and what is used often stays longest")
    func trimmed() async throws {
        // So little that all responses are in one place.
        let cache = ResponseCache(memory: .bytes(1_000_000))
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(cache)
        for number in 0..<40 { _ = try await service.text("\(number)") }
        for _ in 0..<3 { for number in 0..<4 { _ = try await service.text("\(number)") } }
        let bytes = await cache.usage.bytes
        cache.trim(part: 0.5)
        #expect(await cache.usage.bytes <= bytes / 2)
        #expect(await cache.usage.responses > 10)
        for number in 0..<4 { #expect(try await service.response("\(number)").cache?.outcome == .hit) }
        cache.trim(part: .nan)
        cache.trim(part: -1)
        #expect(await cache.usage.responses > 10)
        cache.trim()
        #expect(await cache.usage == ResponseCache.Usage())
        #expect(try await service.response("0").cache?.outcome == .missed)
    }

    @Test("The same body with another type is another body")
    func typeOfBody() async throws {
        let origin = CacheOrigin([:])
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60", .contentType: "text/plain"], body: "1") }
        let service = try origin.service(ResponseCache())
        let first = try #require(try await service.response("a").identity)
        #expect(try await service.response("a", .reload).identity?.body == first.body)
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60", .contentType: "text/csv"], body: "1") }
        #expect(try await service.response("a", .reload).identity?.body != first.body)
    }

    @Test("A byte range is answered from a whole stored response, and its part is not stored")
    func ranges() async throws {
        let origin = CacheOrigin { _ in
            .init(fields: [.cacheControl: "max-age=60", .eTag: "\"1\""], body: "0123456789")
        }
        let service = try origin.service(ResponseCache())
        _ = try await service.text("a")
        let part = try await service.response("a", fields: [.range: "bytes=2-4"])
        #expect(part.status == .partialContent && part.text == "234")
        #expect(part.headerFields[.contentRange] == "bytes 2-4/10" && part.headerFields[.contentLength] == "3")
        #expect(try await service.text("a", fields: [.range: "bytes=-3"]) == "789")
        let outside = try await service.response("a", fields: [.range: "bytes=10-"])
        #expect(outside.status == .rangeNotSatisfiable && outside.headerFields[.contentRange] == "bytes */10")
        #expect(try await service.text("a") == "0123456789" && origin.count == 1)
    }

    @Test("A stored Set-Cookie is shown but not stored in the jar again")
    func setCookie() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60", .setCookie: "s=1"])
        let jar = CookieJar()
        let service = try origin.service(ResponseCache()) { $0.cookies = jar }
        _ = try await service.text("a")
        jar.removeCookies(visibleTo: try RequestURL("https://h/").origin.host)
        let hit = try await service.response("a")
        #expect(hit.cache?.outcome == .hit && hit.headerFields[.setCookie] == "s=1")
        #expect(!jar.hasCookies(for: try RequestURL("https://h/")))
    }

    @Test("removeAll and invalidate remove responses, also those that are on their way")
    func removal() async throws {
        let cache = ResponseCache()
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(cache)
        _ = try await service.text("a")
        _ = try await service.text("b")
        #expect(await cache.usage.responses == 2)
        await cache.invalidate(try RequestURL("https://h/a"))
        #expect(await cache.usage.responses == 1)
        #expect(try await service.text("b") == "2")
        let gate = LoopbackGate()
        origin.answer { _ in
            await gate.opened()
            return .init(fields: [.cacheControl: "max-age=60"], body: "late")
        }
        let late = Task { try await service.text("c") }
        await until { origin.count == 3 }
        await cache.removeAll()
        gate.open()
        #expect(try await late.value == "late")
        #expect(await cache.usage == ResponseCache.Usage())
    }

    @Test("A download goes past the cache")
    func download() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let cache = ResponseCache()
        let service = try origin.service(cache)
        let directory = try ScratchDirectory()
        _ = try await service.download(DataRequest(.get, "a"), to: directory.path + "/a")
        _ = try await service.download(DataRequest(.get, "a"), to: directory.path + "/b")
        #expect(origin.count == 2)
        #expect(await cache.usage.responses == 0)
    }

    @Test("Interceptors see whether an outcome comes from the cache")
    func interceptors() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let seen = Received()
        let service = try origin.service(ResponseCache()) { $0.interceptors = [seen] }
        _ = try await service.text("a")
        _ = try await service.text("a")
        #expect(seen.all == [false, true])
    }
}

/// Records whether the outcomes came from the cache.
private final class Received: RequestInterceptor {
    private let outcomes = Mutex<[Bool]>([])
    var all: [Bool] { outcomes.withLock { $0 } }
    func received(_ outcome: HopOutcome) async throws { outcomes.withLock { $0.append(outcome.isFromCache) } }
}
