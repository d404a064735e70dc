import CEssentials
import EssentialsHTTP
import Testing

@testable import EssentialsCurl

@Suite("The limits of shards")
struct ShardDivisionTests {
    /// A configuration without default values.
    private func configuration(total: Int, shards: Int) -> CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration()
        configuration.shards = shards
        configuration.requestsInFlight = total
        configuration.queueLimit = total
        configuration.connectionCacheSize = total
        configuration.connectionsPerOrigin = 7
        configuration.streamsPerConnection = 11
        configuration.idleLifetime = .seconds(13)
        configuration.userAgent = "shards"
        return configuration
    }

    @Test(
        "The shares of a divided limit add up, are at least one, and differ by at most one",
        arguments: [
            (3, 3), (4, 3), (5, 3), (100, 3), (2_048, 3), (10_000, 3), (64, 64), (65, 64), (127, 64), (1, 1),
            (2_048, 1), (.max, 7), (.max, 64),
        ])
    func parts(total: Int, shards: Int) throws {
        let parts = try configuration(total: total, shards: shards).checked().divided()
        #expect(parts.count == shards)
        for limit in CurlTransport.Configuration.dividedLimits {
            let values = parts.map { $0[keyPath: limit] }
            #expect(values.reduce(0, +) == total)
            let (least, most) = (try #require(values.min()), try #require(values.max()))
            #expect(least >= 1)
            #expect(most - least <= 1)
        }
    }

    @Test("The first shards receive the remainder of a divided limit")
    func rest() {
        let parts = configuration(total: 11, shards: 3).divided()
        #expect(parts.map(\.requestsInFlight) == [4, 4, 3])
        #expect(parts.map(\.queueLimit) == [4, 4, 3])
        #expect(parts.map(\.connectionCacheSize) == [4, 4, 3])
    }

    @Test("A limit of zero stays zero for each shard")
    func none() throws {
        var whole = configuration(total: 0, shards: 3)
        whole.requestsInFlight = 3
        let parts = try whole.checked().divided()
        #expect(parts.map(\.requestsInFlight) == [1, 1, 1])
        #expect(parts.map(\.queueLimit) == [0, 0, 0])
        #expect(parts.map(\.connectionCacheSize) == [0, 0, 0])
    }

    @Test("Limits for an origin or a connection are the same in each shard")
    func others() {
        for part in configuration(total: 11, shards: 3).divided() {
            #expect(part.shards == 1)
            #expect(part.connectionsPerOrigin == 7)
            #expect(part.streamsPerConnection == 11)
            #expect(part.idleLifetime == .seconds(13))
            #expect(part.userAgent == "shards")
        }
    }

    @Test("The shares reach the queue and libcurl unchanged")
    func limits() {
        let parts = configuration(total: 11, shards: 3).divided()
        let limits = parts.map(\.limits)
        #expect(limits.map(\.total) == [4, 4, 3])
        #expect(limits.map(\.queue) == [4, 4, 3])
        #expect(limits.map(\.perOrigin) == [7, 7, 7])
        #expect(limits.map(\.perConnection) == [11, 11, 11])
        #expect(parts.map { $0.withSettings { $0.connection_cache } } == [4, 4, 3])
    }

    @Test("Each shard starts as many requests as its share, and all together no more than the whole")
    func admission() throws {
        var started = 0
        for part in configuration(total: 11, shards: 3).divided() {
            var machine = AdmissionMachine<Int>(limits: part.limits)
            // There are more origins than places, so that only the total limits them.
            let arrivals = try (0..<20).map { ticket in
                machine.arrive(
                    ticket, lane: machine.lane(for: Origin(scheme: .https, host: try HostName("h\(ticket).test"))))
            }
            #expect(arrivals.filter { $0 == .start }.count == part.requestsInFlight)
            #expect(arrivals.filter { $0 == .wait }.count == part.queueLimit)
            started += machine.active
        }
        #expect(started == 11)
    }
}
