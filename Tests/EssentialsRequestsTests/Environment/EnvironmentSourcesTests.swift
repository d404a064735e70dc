import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("Environment sources")
struct EnvironmentSourcesTests {
    @Test("An environment from variables has their base URL, name and fields")
    func variables() throws {
        let values = [
            "SHOP_BASE_URL": "https://shop.test/v1/", "SHOP_NAME": "live",
            "SHOP_HEADERS": "X-Tenant: acme\r\nAccept-Language:  en , de \n\n",
        ]
        let environment = try ConstantEnvironment(reading: { values[$0] }, prefix: "SHOP")
        #expect(environment.baseURL.description == "https://shop.test/v1/")
        #expect(environment.name == "live")
        #expect(
            environment.headerFields.map { "\($0.name)=\($0.value)" } == ["X-Tenant=acme", "Accept-Language=en , de"])
        #expect(environment.trust == nil)
    }

    @Test(
        "An environment from variables names the missing or invalid variable",
        arguments: [
            ([:], "API_BASE_URL is not set"), (["API_BASE_URL": ""], "API_BASE_URL is not set"),
            (["API_BASE_URL": "shop.test"], "API_BASE_URL is invalid"),
            (["API_BASE_URL": "https://h/", "API_HEADERS": "nonsense"], "API_HEADERS is invalid"),
            (["API_BASE_URL": "https://h/", "API_HEADERS": "a b: c"], "API_HEADERS is invalid"),
        ] as [([String: String], String)])
    func wrongVariables(values: [String: String], text: String) throws {
        let failure = #expect(throws: RequestFailure.self) { try ConstantEnvironment(reading: { values[$0] }) }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.message.contains(text) == true)
    }

    @Test("An environment from variables includes a policy file")
    func variablesWithPolicy() throws {
        try withFiles(["policy.json": #"{"unlistedHosts": "refused"}"#]) { directory in
            let values = ["API_BASE_URL": "https://h/", "API_TRUST_POLICY": directory + "/policy.json"]
            let environment = try ConstantEnvironment(reading: { values[$0] })
            #expect(environment.trust == (try TrustPolicy(json: #"{"unlistedHosts": "refused"}"#)))
        }
    }

    @Test("An environment file provides its environments in order, with fields and policies")
    func file() throws {
        let text = #"""
            {
                "current": "staging",
                "environments": {
                    "live": {"baseURL": "https://live.test/v1/", "trust": "policy.json"},
                    "staging": {
                        "baseURL": "https://staging.test/", "headers": {"X-Stage": "yes", "Accept-Language": ["en", "de"]},
                        "trust": {"minimumTLS": "1.3"}
                    }
                }
            }
            """#
        try withFiles(["environments.json": text, "policy.json": #"{"unlistedHosts": "refused"}"#]) { directory in
            let environment = try SwitchableEnvironment(contentsOfFile: directory + "/environments.json")
            #expect(environment.environments.map(\.name) == ["live", "staging"])
            #expect(environment.name == "staging")
            #expect(
                environment.headerFields.map { "\($0.name)=\($0.value)" }
                    == ["X-Stage=yes", "Accept-Language=en", "Accept-Language=de"])
            #expect(environment.trust == (try TrustPolicy(json: #"{"minimumTLS": "1.3"}"#)))
            try environment.select("live")
            #expect(environment.trust == (try TrustPolicy(json: #"{"unlistedHosts": "refused"}"#)))
            let named = try SwitchableEnvironment(contentsOfFile: directory + "/environments.json", current: "live")
            #expect(named.name == "live")
        }
    }

    @Test(
        "An invalid environment file is reported with its line",
        arguments: [
            ("{\n\"environments\": []}", "line 2: Expected an object"),
            ("{\n}", "line 1: The object that begins here has no “environments”"),
            ("{\"environments\": {\"a\": {\n\"baseURL\": \"ftp://x\"}}}", "line 2: The scheme “ftp”"),
            ("{\"environments\": {\"a\": {\n\"baseUrl\": \"https://x\"}}}", "line 2: “baseUrl” is not a valid name"),
            (
                "{\"environments\": {\"a\": {\"baseURL\": \"https://x\"}},\n\"current\": \"b\"}",
                "line 2: Expected"
            ),
            ("{\"environments\": {\"a\": {\"baseURL\": \"https://x\",\n\"headers\": {\"a b\": \"c\"}}}}", "line 2:"),
            ("{\"environments\": {\"a\": {\"baseURL\": \"https://x\",\n\"trust\": {\"pin\": 1}}}}", "line 2: “pin”"),
            ("{\"environments\": {}}", "There is no environment"), ("nonsense", "line 1:"),
        ])
    func wrongFile(text: String, message: String) throws {
        try withFiles(["e.json": text]) { directory in
            let failure = #expect(throws: RequestFailure.self) {
                try SwitchableEnvironment(contentsOfFile: directory + "/e.json")
            }
            #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
        }
    }

    @Test("A missing environment or policy file is reported as the failure of that file")
    func missing() throws {
        let text = #"{"environments": {"a": {"baseURL": "https://x", "trust": "none.json"}}}"#
        try withFiles(["e.json": text]) { directory in
            for name in ["e.json", "other.json"] {
                let failure = #expect(throws: RequestFailure.self) {
                    try SwitchableEnvironment(contentsOfFile: "\(directory)/\(name)")
                }
                #expect(failure?.reason == .file)
                #expect(failure?.message.contains(name == "e.json" ? "none.json" : "other.json") == true)
            }
        }
    }

    private func withFiles(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        for (name, text) in files { try Data(text.utf8).write(to: directory.appending(path: name)) }
        try body(directory.path)
    }
}
