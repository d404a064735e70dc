import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite struct TransmissionTests {
    private func failure(
        _ url: String, trust: TrustPolicy = .system, _ change: (inout TransportRequest) -> Void = { _ in }
    ) async throws -> RequestFailure? {
        let transport = try CurlTransport(trust: trust)
        var request = TransportRequest(.post, try RequestURL(url), body: .bytes(Data("x".utf8)))
        change(&request)
        let failure: RequestFailure?
        do throws(RequestFailure) {
            _ = try await transport.send(request)
            failure = nil
        } catch { failure = error }
        await transport.shutdown()
        return failure
    }

    @Test("A failure says whether a byte of the request was sent")
    func sentOrNot() async throws {
        let replies: [ServerReply] = [
            .close, .reset, .raw([.text("HTTP/1.1 200 OK\r\nContent-Le"), .close]),
            .raw([.head(headers: [("Content-Length", "10")]), .text("ab"), .close]),
        ]
        for reply in replies {
            let server = try LoopbackServer { _ in reply }
            let failure = try await failure(server.url + "/a")
            #expect(failure?.transmission == .sent)
            #expect(failure?.isUnprocessed == false)
            server.stop()
        }
        let stopped = try LoopbackServer { _ in .response() }
        stopped.stop()
        #expect(try await failure(stopped.url + "/a")?.transmission == .unsent)
        #expect(try await failure("http://name.invalid/a")?.transmission == .unsent)
    }

    @Test("A request that a trust policy refuses was not sent, neither before nor during the handshake")
    func refusedByTrust() async throws {
        let certificate = try TestCertificate.selfSigned(.init(commonName: "localhost"))
        let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { _ in .response() }
        let refused = try await failure("https://localhost:\(server.port)/a")
        #expect((refused?.reason, refused?.transmission) == (.trustChain, .unsent))
        server.stop()
        let plain = try await failure("http://localhost:1/a") { $0.headerFields[.transferEncoding] = "chunked" }
        #expect((plain?.reason, plain?.transmission) == (.invalidRequest, .unsent))
    }

    @Test("A request that times out while it waits for its response counts as sent")
    func timeouts() async throws {
        let server = try LoopbackServer { _ in .hang }
        let waiting = try await failure(server.url + "/a") { $0.options.totalTimeout = .milliseconds(100) }
        #expect((waiting?.reason, waiting?.transmission) == (.timeout, .sent))
        server.stop()
    }

    @Test("A fresh connection is used although another one is open")
    func freshConnection() async throws {
        let server = try LoopbackServer { _ in .response(body: "x") }
        let transport = try CurlTransport()
        var request = TransportRequest(.get, try RequestURL(server.url + "/a"))
        for isFresh in [false, false, true, false] {
            request.needsFreshConnection = isFresh
            _ = try await transport.send(request)
        }
        #expect(server.requests.map(\.connection).prefix(3) == [0, 0, 1])
        await transport.shutdown()
        server.stop()
    }

    @Test("A GET that is marked as not idempotent is not repeated on a dead connection")
    func notRepeated() async throws {
        for isIdempotent in [nil, false] as [Bool?] {
            let server = try LoopbackServer { request in
                request.numberOnConnection == 1 ? .close : .response(body: "x")
            }
            let transport = try CurlTransport()
            var request = TransportRequest(.get, try RequestURL(server.url + "/a"))
            request.isIdempotent = isIdempotent
            _ = try await transport.send(request)
            let second = try? await transport.send(request)
            #expect((second == nil) == (isIdempotent == false))
            #expect(server.requestCount == (isIdempotent == false ? 2 : 3))
            await transport.shutdown()
            server.stop()
        }
    }
}
