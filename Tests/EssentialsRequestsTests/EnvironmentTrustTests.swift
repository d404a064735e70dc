import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Environment trust")
struct EnvironmentTrustTests {
    /// An environment that is replaced as a whole by one that is not known in advance.
    private final class Switching: EnvironmentService {
        private let current: Mutex<EnvironmentSnapshot>

        init(_ first: EnvironmentSnapshot) { current = Mutex(first) }

        func change(to other: EnvironmentSnapshot) { current.withLock { $0 = other } }

        var snapshot: EnvironmentSnapshot { current.withLock { $0 } }
        var baseURL: RequestURL { snapshot.baseURL }
        var headerFields: HTTPFields { snapshot.headerFields }
        var trust: TrustPolicy? { snapshot.trust }
    }

    private struct Side {
        let server: LoopbackServer
        let environment: EnvironmentSnapshot

        /// Creates an HTTPS server and an environment that trusts only this server, by its pin.
        init(_ name: String) throws {
            let authority = try TestAuthority(name: name)
            let leaf = try authority.issue(.init(commonName: "localhost"))
            server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { _ in
                .response(headers: [("Content-Type", "text/plain")], body: name)
            }
            let policy = try TrustPolicy(
                pins: [.publicKey(leaf.publicKeyPin), .publicKey(authority.certificate.publicKeyPin)],
                anchors: .only([PEM(authority.certificate.certificatePEM)]))
            environment = EnvironmentSnapshot(baseURL: try RequestURL(server.url + "/"), trust: policy)
        }
    }

    @Test("An environment's trust policy applies to its own requests only")
    func policies() async throws {
        let (staging, live) = try (Side("staging"), Side("live"))
        let environment = Switching(staging.environment)
        let service = try HTTPDataRequestService(environment: environment)
        for _ in 0..<2 {
            environment.change(to: staging.environment)
            #expect(try await service.get("name", parameters: [:]) == "staging")
            environment.change(to: live.environment)
            #expect(try await service.get("name", parameters: [:]) == "live")
        }
        // One environment's address with the other's policy.
        var mixed = live.environment
        mixed.trust = staging.environment.trust
        environment.change(to: mixed)
        let before = live.server.requestCount
        let failure = await #expect(throws: RequestFailure.self) {
            let _: String = try await service.get("name", parameters: [:])
        }
        #expect(failure?.reason == .trustChain)
        #expect(live.server.requestCount == before)
        await service.shutdown()
    }

    @Test("The trust policy and the address are read together during concurrent changes")
    func snapshots() async throws {
        let (staging, live) = try (Side("staging"), Side("live"))
        let environment = Switching(staging.environment)
        let service = try HTTPDataRequestService(environment: environment)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<2_000 {
                    environment.change(to: number % 2 == 0 ? live.environment : staging.environment)
                    await Task.yield()
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<25 {
                        let name: String = try await service.get("name", parameters: [:])
                        #expect(["staging", "live"].contains(name))
                    }
                }
            }
            try await group.waitForAll()
        }
        await service.shutdown()
    }
}
