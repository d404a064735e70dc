import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A proxy's credentials", .serialized)
struct ProxyCredentialTests {
    private let ours: Authority
    private let secure: LoopbackServer
    private let plain: LoopbackServer

    init() throws {
        ours = try Authority.originTest()
        secure = try ours.server { _ in .response(body: "ok") }
        plain = try LoopbackServer { _ in .response(body: "ok") }
    }

    private func proxy(credentials: String?) throws -> HTTPTestProxy {
        try HTTPTestProxy(
            ports: ["origin.test": secure.port, "plain.test": plain.port], credentials: credentials)
    }

    /// Whether a request has no field for the proxy.
    private func isClean(_ request: ServerRequest) -> Bool {
        !request.headers.contains { $0.name.lowercased().hasPrefix("proxy-") || $0.value.contains("Basic") }
    }

    @Test("A proxy's credentials are sent only to the proxy")
    func reachProxy() async throws {
        let proxy = try proxy(credentials: "\(proxyUser):\(proxyPassword)")
        let transport = try transport(
            .fixed(proxy.proxy(user: proxyUser, password: proxyPassword)), trust: ours.policy())
        #expect(try await transport.send(get("https://origin.test/")).text == "ok")
        #expect(try await transport.send(get("http://plain.test/")).text == "ok")
        #expect(try await transport.send(get("https://origin.test/2")).text == "ok")
        #expect(
            proxy.requests.map { $0.values("Proxy-Authorization") } == [[proxyAuthorization], [proxyAuthorization]])
        #expect((secure.requests + plain.requests).allSatisfy(isClean))
        #expect(secure.requestCount == 2 && plain.requestCount == 1)
        #expect(!proxy.tunnelled.holds("Basic"))
    }

    @Test(
        "A proxy's credentials are UTF-8 and may hold characters that a URL could not",
        arguments: [("ü s€r", "p:@/?#%ss"), ("user", ""), ("", "x")])
    func characters(user: String, password: String) async throws {
        let proxy = try proxy(credentials: "\(user):\(password)")
        let transport = try transport(.fixed(proxy.proxy(user: user, password: password)), trust: ours.policy())
        #expect(try await transport.send(get("https://origin.test/")).text == "ok")
    }

    @Test("Wrong or missing credentials fail a request for https as `proxy`", arguments: [true, false])
    func wrongForTunnel(given: Bool) async throws {
        let proxy = try proxy(credentials: "other:other")
        let through = try given ? proxy.proxy(user: proxyUser, password: proxyPassword) : proxy.proxy()
        let transport = try transport(.fixed(through), trust: ours.policy())
        let found = await failure { try await transport.send(get("https://origin.test/?q=hidden-query")) }
        #expect(found?.reason == .proxy)
        #expect(found?.message.contains("407") == true, "\(String(describing: found))")
        #expect(found?.message.contains("http://127.0.0.1:\(proxy.port)") == true)
        #expect(found?.host == "origin.test")
        #expect(found?.showsNoCredentials == true)
        #expect(found?.allText.contains("hidden-query") == false)
        #expect(secure.connectionCount == 0)
        // The request is not repeated with the same credentials.
        #expect(proxy.requests.count == 1)
    }

    @Test("With wrong credentials, the response to a request for http is the proxy's 407")
    func wrongForPlain() async throws {
        let proxy = try proxy(credentials: "other:other")
        let transport = try transport(.fixed(proxy.proxy(user: proxyUser, password: proxyPassword)))
        let response = try await transport.send(get("http://plain.test/"))
        #expect(response.status.code == 407)
        #expect(plain.connectionCount == 0)
    }

    @Test("A direct request after a proxied one sends no credentials of the proxy")
    func areForgotten() async throws {
        let reached = LoopbackGate()
        let hanging = try HTTPTestProxy(manner: .hangs { reached.open() })
        let refusing = try HTTPTestProxy(manner: .refuses(403))
        let bare = try proxy(credentials: nil)
        let through = try [
            "hanging.test": hanging.proxy(user: proxyUser, password: proxyPassword),
            "refusing.test": refusing.proxy(user: proxyUser, password: proxyPassword),
            "plain.test": bare.proxy(), "origin.test": bare.proxy(),
        ]
        let transport = try transport(.deciding { through[$0.host.text] }, trust: ours.policy())
        let direct = try LoopbackServer { _ in .response(body: "direct") }
        for scheme in ["https", "http"] {
            // The exchanges run one after the other, so that each takes over the handle of the previous one.
            let task = Task { await failure { try await transport.send(get("\(scheme)://hanging.test/")) } }
            await reached.opened()
            while hanging.requests.count < (scheme == "https" ? 1 : 2) { try await Task.sleep(for: .milliseconds(2)) }
            task.cancel()
            #expect(await task.value?.reason == .cancelled)
            #expect(try await transport.send(request(direct)).text == "direct")
            _ = await failure { try await transport.send(get("https://refusing.test/")) }
            #expect(try await transport.send(get("http://plain.test/")).text == "ok")
            #expect(try await transport.send(request(direct)).text == "direct")
            #expect(try await transport.send(get("https://origin.test/")).text == "ok")
        }
        #expect(hanging.requests.allSatisfy { $0.values("Proxy-Authorization") == [proxyAuthorization] })
        #expect(refusing.requests.allSatisfy { $0.values("Proxy-Authorization") == [proxyAuthorization] })
        #expect(bare.requests.allSatisfy { $0.values("Proxy-Authorization").isEmpty })
        #expect((direct.requests + plain.requests + secure.requests).allSatisfy(isClean))
    }

    @Test("A tunnel is not used by a request with other credentials, or none")
    func tunnelsOfOthers() async throws {
        let proxy = try proxy(credentials: "\(proxyUser):\(proxyPassword)")
        let choices: [String: Proxy] = try [
            "right": proxy.proxy(user: proxyUser, password: proxyPassword),
            "wrong": proxy.proxy(user: "other", password: "other"), "none": proxy.proxy(),
        ]
        let choice = Choice("right")
        let transport = try transport(.deciding { _ in choices[choice.name] }, trust: ours.policy())
        #expect(try await transport.send(get("https://origin.test/")).text == "ok")
        for name in ["wrong", "none"] {
            choice.name = name
            let found = await failure { try await transport.send(get("https://origin.test/")) }
            #expect(found?.reason == .proxy, "\(name): \(String(describing: found))")
        }
        #expect(secure.requestCount == 1)
    }

    @Test("A proxy's credentials are not logged")
    func log() async throws {
        let proxy = try proxy(credentials: "other:other")
        let lines = LogLines()
        let transport = try transport(
            .fixed(proxy.proxy(user: proxyUser, password: proxyPassword)), trust: ours.policy()
        ) { $0.logger = lines.logger }
        _ = await failure { try await transport.send(get("https://origin.test/")) }
        #expect(!lines.text.isEmpty)
        #expect(!lines.text.contains(proxyUser) && !lines.text.contains("s3cret"))
    }
}
