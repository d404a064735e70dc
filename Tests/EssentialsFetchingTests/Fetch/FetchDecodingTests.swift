import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite struct FetchDecodingTests {
    @Test("A model can be read from below a path of names, and is cached under a key of its own")
    func nested() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: [
            "data": ["items": [["name": "a"], ["name": "b"]], "count": 2]
        ])
        let service = fixture.service
        let coins = try await service.get("coins", below: "data.items", from: .backend, as: [Coin].self).last()
        #expect(coins?.value.map(\.name) == ["a", "b"])
        #expect(try await service.get("coins", below: "data.count", from: .backend, as: Int.self).last()?.value == 2)
        #expect(try await service.get("coins", below: "data.items", from: .cache, as: [Coin].self).last() != nil)
        #expect(try await service.get("coins", from: .cache, as: [Coin].self).last() == nil)
    }

    @Test("A document over 64 KiB is read below the path too")
    func large() async throws {
        let fixture = try FetchFixture()
        let name = String(repeating: "x", count: 100_000)
        fixture.transport.on(.get, "/v1/coins").answer(json: ["data": ["name": .string(name)]])
        let coin = try await fixture.service.get("coins", below: "data", from: .backend, as: Coin.self).last()
        #expect(coin?.value.name == name)
    }

    @Test("A name that is missing in the document is named by the failure")
    func missing() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: ["data": ["x": 1]])
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.get("coins", below: "data.items", from: .backend, as: [Coin].self).last()
        }
        #expect(failure?.reason == .decoding)
        #expect(failure?.message.contains("items") == true)
    }

    @Test("A null or an empty body below a path is nil for an optional model")
    func optional() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: ["data": nil]).thenAnswer(.noContent)
        for _ in 0..<2 {
            let last = try #require(
                try await fixture.service.get("coins", below: "data", from: .backend, as: Coin?.self).last())
            #expect(last.value == nil)
        }
    }

    @Test("The response of a write can be read below a path too")
    func write() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.post, "/v1/coins").answer(.created, json: ["data": ["name": "a"]])
        #expect(try await fixture.service.post("coins", below: "data", as: Coin.self).name == "a")
    }

    @Test("The request names the types that it accepts")
    func accept() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: ["data": ["name": "a"]])
        _ = try? await fixture.service.get("coins", from: .backend, as: Coin.self).last()
        _ = try await fixture.service.get("coins", below: "data", from: .backend, as: Coin.self).last()
        let accepted = fixture.transport.requests.map { $0.headerFields[.accept] }
        #expect(accepted[0]?.contains("application/json") == true)
        #expect(accepted[0] == accepted[1])
    }
}
