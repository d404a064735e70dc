import EssentialsHTTP
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct PolicyFileTests {
    static let first = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    static let second = "sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="

    /// Every member, except those that exclude one of these.
    static let whole = """
        {
            "anchors": {"system": true, "files": ["ca.pem", "two.pem"]},
            "minimumTLS": "1.3",
            "unlistedHosts": {"pins": ["\(first)"], "singlePin": true, "mode": "reportOnly"},
            "revocation": {"lists": ["ca.crl"]},
            "identity": {"certificate": "client.pem", "key": "client.key"},
            "hosts": [
                {
                    "host": "**.Example.com.",
                    "pins": [
                        "\(first)", {"publicKey": "\(second)", "scope": "leaf"},
                        {"certificate": "\(second)", "scope": "issuer"}, {"certificate": "\(first)", "scope": "any"}
                    ],
                    "mode": "enforce", "expires": "2030-02-28", "onExpiry": "refuse", "singlePin": false
                },
                {"host": "static.example.com", "unpinned": true},
                {"host": "::1", "pins": ["\(first)", "\(second)"], "unpinned": false, "onExpiry": "anchorsOnly"}
            ]
        }
        """

    private static func block(_ label: String) -> String { "-----BEGIN \(label)-----\nAAAA\n-----END \(label)-----\n" }

    private static let files = [
        "ca.pem": block("CERTIFICATE"), "two.pem": block("CERTIFICATE") + block("X509 CERTIFICATE"),
        "ca.crl": block("X509 CRL"), "client.pem": block("CERTIFICATE"), "client.key": block("PRIVATE KEY"),
        "locked.key": block("ENCRYPTED PRIVATE KEY"), "empty.pem": "",
    ]

    /// Runs a test with a directory of the files above, and removes it afterwards.
    private static func withFiles<Value>(_ body: (String) throws -> Value) throws -> Value {
        let name = "policy-file-tests-\(UInt64.random(in: 0 ... .max))"
        let directory = FileManager.default.temporaryDirectory.appending(path: name).path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)")) }
        return try body(directory)
    }

    private func failure(_ json: String, directory: String = "/nonexistent") throws -> RequestFailure {
        try #require(throws: RequestFailure.self) { try TrustPolicy(json: json, directory: directory) }
    }

    // MARK: Parsing

    @Test("Every member is parsed")
    func everything() throws {
        let policy = try Self.withFiles { try TrustPolicy(json: Self.whole, directory: $0) }
        let authorities = try ["ca.pem", "two.pem"].map { try PEM(#require(Self.files[$0])) }
        #expect(try policy.anchors == .systemAnd(authorities))
        #expect(policy.minimumTLS == .tls13)
        #expect(
            try policy.unlistedHosts
                == .pinned(PinSet([.publicKey(Self.first)], mode: .reportOnly, acceptsSinglePin: true)))
        #expect(try policy.revocation == .lists([PEM(Self.block("X509 CRL"))]))
        #expect(
            try policy.identity
                == ClientIdentity(
                    certificate: PEM(Self.block("CERTIFICATE")), privateKey: PEM(Self.block("PRIVATE KEY"))))
        let pins = try [
            Pin.publicKey(Self.first), .publicKey(Self.second, scope: .leaf),
            .certificate(Self.second, scope: .issuer), .certificate(Self.first),
        ]
        // Midnight in UTC by the proleptic Gregorian calendar.
        let day = Date(timeIntervalSince1970: 1_898_467_200)
        #expect(
            try policy.hosts == [
                HostRule("**.example.com", pins: PinSet(pins, expires: day, onExpiry: .refuse)),
                .unpinned("static.example.com"),
                HostRule("::1", pins: PinSet([.publicKey(Self.first), .publicKey(Self.second)])),
            ])
    }

    @Test("An empty object is the system's policy", arguments: ["{}", " {\t}\r\n", "{\"hosts\": []}"])
    func empty(json: String) throws {
        #expect(try TrustPolicy(json: json) == .system)
    }

    @Test("Members with keywords accept each of them")
    func words() throws {
        #expect(try TrustPolicy(json: #"{"anchors": "system"}"#).anchors == .system)
        #expect(try TrustPolicy(json: #"{"minimumTLS": "1.2"}"#).minimumTLS == .tls12)
        #expect(try TrustPolicy(json: #"{"unlistedHosts": "anchorsOnly"}"#).unlistedHosts == .anchorsOnly)
        #expect(try TrustPolicy(json: #"{"unlistedHosts": "refused"}"#).unlistedHosts == .refused)
        #expect(try TrustPolicy(json: #"{"revocation": "none"}"#).revocation == .none)
        #expect(try TrustPolicy(json: #"{"revocation": "stapled"}"#).revocation == .stapled(isRequired: false))
        #expect(try TrustPolicy(json: #"{"revocation": "requireStaple"}"#).revocation == .stapled(isRequired: true))
    }

    @Test("Anchors are a list of files, alone or together with the system's")
    func anchors() throws {
        let only = try TrustAnchors.only([PEM(#require(Self.files["ca.pem"]))])
        for json in [
            #"{"anchors": ["ca.pem"]}"#, #"{"anchors": {"files": ["ca.pem"]}}"#,
            #"{"anchors": {"files": ["ca.pem"], "system": false}}"#,
        ] {
            #expect(try Self.withFiles { try TrustPolicy(json: json, directory: $0) }.anchors == only)
        }
    }

    @Test("If the environment is ignored, the system's anchors are the installed ones")
    func environment() throws {
        let list = [try PEM(#require(Self.files["ca.pem"]))]
        let cases: [(String, TrustAnchors)] = [
            (#"{"system": true}"#, .system),
            (#"{"system": true, "ignoresEnvironment": false}"#, .system),
            (#"{"system": true, "ignoresEnvironment": true}"#, .system.ignoringEnvironment),
            (
                #"{"system": true, "files": ["ca.pem"], "ignoresEnvironment": true}"#,
                try .systemAnd(list).ignoringEnvironment
            ),
            (#"{"files": ["ca.pem"], "ignoresEnvironment": true}"#, try .only(list)),
        ]
        for (anchors, expected) in cases {
            let json = #"{"anchors": \#(anchors)}"#
            #expect(try Self.withFiles { try TrustPolicy(json: json, directory: $0) }.anchors == expected)
        }
    }

    @Test(
        "JSON escapes are parsed in names and in values",
        arguments: [
            #"{"host\u0073": [{"host": "a\u002Etest", "unpinned": true}]}"#,
            #"{"hosts": [{"h\u006fst": "\u0061.TEST.", "unpinned": true}]}"#,
        ])
    func escapes(json: String) throws {
        #expect(try TrustPolicy(json: json).hosts == [.unpinned("a.test")])
    }

    // MARK: Errors

    /// A text, the line of its error, and the expected message.
    struct Fault: Sendable, CustomTestStringConvertible {
        let json: String
        let line: Int
        let text: String
        var testDescription: String { "\(text) in \(json.prefix(60))" }

        init(_ json: String, _ line: Int, _ text: String) { (self.json, self.line, self.text) = (json, line, text) }

        /// An error in a rule that begins on line 2 and whose members begin on line 3.
        static func rule(_ members: String, _ line: Int, _ text: String) -> Fault {
            Fault("{\"hosts\": [\n{\n\(members)}]}", line, text)
        }
    }

    static let syntax: [Fault] = [
        Fault("", 1, "ends where a value"), Fault("\n\n", 3, "ends where a value"), Fault("{", 1, "quotation marks"),
        Fault("\n{}\n\n{}", 4, "after the end"), Fault("{}x", 1, "after the end"), Fault("{,}", 1, "quotation marks"),
        Fault("{\n\"hosts\": [],\n}", 3, "quotation marks"), Fault("{\n\"hosts\"\n[]}", 3, "colon"),
        Fault("{\"hosts\": [1\n2]}", 2, "comma or “]”"), Fault("{\"hosts\": []\n\"a\": 1}", 2, "comma or “}”"),
        Fault("{\"hosts\": [\n", 2, "ends where a value"), Fault("{\"hosts\": [],\n\"hosts\": []}", 2, "twice"),
        Fault("{\"hosts\": [\n1,]}", 2, "is not a value"), Fault("[\nnul]", 2, "is not a value"),
        Fault("[\n'a']", 2, "is not a value"), Fault("[\n// no comments\n]", 2, "is not a value"),
        Fault("[\n\"a", 2, "no end"), Fault("[\n\"a\\", 2, "no end"), Fault("[\n\"a\nb\"]", 2, "line break"),
        Fault("[\n\"a\u{0}b\"]", 2, "control character"), Fault("[\n\"\\x41\"]", 2, "escape"),
        Fault("[\n\"\\u12g4\"]", 2, "four hexadecimal"), Fault("[\n\"\\u12", 2, "four hexadecimal"),
        Fault("[\n\"\\ud800\"]", 2, "half"), Fault("[\n\"\\ud800\\ud800\"]", 2, "half"),
        Fault("[\n\"\\udc00\"]", 2, "half"), Fault("[\n\"\\ud800\\n\"]", 2, "half"), Fault("[\n01]", 2, "number"),
        Fault("[\n1.]", 2, "number"), Fault("[\n-]", 2, "number"), Fault("[\n1e]", 2, "number"),
        Fault("[\n.5]", 2, "is not a value"), Fault("[\n+1]", 2, "is not a value"),
        Fault("\u{feff}{}", 1, "is not a value"), Fault("[\nTrue]", 2, "is not a value"),
        Fault("[\n1e+]", 2, "number"), Fault("[\nNaN]", 2, "is not a value"),
    ]

    static let members: [Fault] = [
        Fault("\n[]", 2, "an object, not an array"), Fault("null", 1, "an object, not null"),
        Fault("{\n\"host\": []}", 2, "“host” is not a valid name here"),
        Fault("{\n\"Hosts\": []}", 2, "valid names are"),
        Fault("{\n\"hosts\": {}}", 2, "an array, not an object"),
        Fault("{\"hosts\": [\n1]}", 2, "an object, not a number"),
        Fault("{\n\"anchors\":\n\"none\"}", 3, "“system”, not “none”"), Fault("{\n\"anchors\": []}", 2, "empty"),
        Fault("{\n\"anchors\": {}}", 2, "no “files”"),
        Fault("{\n\"anchors\": {\"ignoresEnvironment\": true}}", 2, "no “files”"),
        Fault("{\"anchors\": {\"system\": true,\n\"ignoresEnvironment\": 1}}", 2, "true or false, not a number"),
        Fault("{\"anchors\":{\n\"file\": 1}}", 2, "“file” is not a valid name"),
        Fault("{\"anchors\":{\"files\": [],\n\"system\": 1}}", 2, "true or false, not a number"),
        Fault("{\"anchors\": [\n1]}", 2, "a string, not a number"), Fault("{\n\"minimumTLS\": 1.2}", 2, "“1.2”, “1.3”"),
        Fault("{\n\"minimumTLS\": \"1.1\"}", 2, "not “1.1”"), Fault("{\n\"minimumTLS\": null}", 2, "not null"),
        Fault("{\n\"unlistedHosts\": \"pinned\"}", 2, "not “pinned”"),
        Fault("{\n\"unlistedHosts\": {}}", 2, "no “pins”"),
        Fault("{\"unlistedHosts\": {\n\"host\": \"a.test\"}}", 2, "“host” is not a valid name"),
        Fault("{\n\"unlistedHosts\": {\"pins\": [\"\(first)\"]}}", 2, "single pin"),
        Fault("{\n\"revocation\": true}", 2, "not true or false"), Fault("{\n\"revocation\": {}}", 2, "no “lists”"),
        Fault("{\n\"revocation\": \"crl\"}", 2, "not “crl”"), Fault("{\n\"identity\": {}}", 2, "no “certificate”"),
        Fault("{\n\"identity\": \"client.pem\"}", 2, "an object, not a string"),
        Fault("{\"identity\": {\n\"passphrase\": \"x\"}}", 2, "“passphrase” is not a valid name"),
    ]

    static let rules: [Fault] = [
        .rule("", 2, "no “host”"), .rule("\"host\": 1", 3, "a string, not a number"),
        .rule("\"host\":\n\"a*.test\", \"unpinned\": true", 4, "asterisk"),
        .rule("\"host\":\n\"\", \"unpinned\": true", 4, "contains no host"),
        .rule("\"host\": \"a.test\"", 2, "no “pins”"),
        .rule("\"host\": \"a.test\", \"unpinned\": false", 2, "no “pins”"),
        .rule("\"host\": \"a.test\",\n\"pin\": []", 4, "“pin” is not a valid name"),
        .rule("\"host\": \"a.test\",\n\"unpinned\": \"yes\"", 4, "true or false, not “yes”"),
        .rule("\"host\": \"a.test\", \"unpinned\": true,\n\"pins\": []", 2, "“unpinned” and has “pins”"),
        .rule("\"host\": \"a.test\",\n\"pins\": []", 2, "empty"),
        .rule("\"host\": \"a.test\",\n\"pins\": \"\(first)\"", 4, "an array, not"),
        .rule("\"host\": \"a.test\",\n\"pins\": [\"\(first)\"]", 2, "single pin"),
        .rule("\"host\": \"a.test\", \"pins\": [\n\"\(first)\",\n\"\(first)\"]", 2, "single pin"),
        .rule("\"host\": \"a.test\", \"pins\": [\n\"sha1/AAAA\"]", 4, "not a pin"),
        .rule("\"host\": \"a.test\", \"pins\": [\n\"sha256/AAAA\"]", 4, "3 bytes"),
        .rule("\"host\": \"a.test\", \"pins\": [\n17]", 4, "an object, not a number"),
        .rule("\"host\": \"a.test\", \"pins\": [\n{}]", 4, "either “publicKey” or “certificate”"),
        .rule(
            "\"host\": \"a.test\", \"pins\": [\n{\"publicKey\": \"\(first)\", \"certificate\": \"\(first)\"}]", 4,
            "either"),
        .rule("\"host\": \"a.test\", \"pins\": [{\"publicKey\":\n\"sha256/!\"}]", 4, "Base64"),
        .rule("\"host\": \"a.test\", \"pins\": [{\"publicKey\": \"\(first)\",\n\"scope\": \"root\"}]", 4, "not “root”"),
        .rule("\"host\": \"a.test\", \"pins\": [{\n\"spki\": \"\(first)\"}]", 4, "“spki” is not a valid name"),
        .rule("\"host\": \"a.test\", \"pins\": [],\n\"mode\": \"off\"", 4, "not “off”"),
        .rule("\"host\": \"a.test\", \"pins\": [],\n\"singlePin\": 1", 4, "true or false"),
        .rule("\"host\": \"a.test\", \"pins\": [],\n\"onExpiry\": \"ignore\"", 4, "not “ignore”"),
        Fault(
            "{\n\"hosts\": [{\"host\": \"a.test\", \"unpinned\": true}, {\"host\": \"A.test.\", \"unpinned\": true}]}",
            1, "two rules"),
    ]

    @Test("An error is reported with its line", arguments: syntax + members + rules)
    func located(_ fault: Fault) throws {
        let found = try failure(fault.json)
        #expect(found.reason == .invalidPolicy)
        #expect(found.message.hasPrefix("The policy, line \(fault.line): "), "\(found.message)")
        #expect(found.message.contains(fault.text), "\(found.message)")
        #expect(found.remedy?.isEmpty == false)
    }

    @Test(
        "A date that does not exist is refused",
        arguments: [
            "2030-02-29", "2030-13-01", "2030-00-10", "2030-01-00", "2030-1-1", "30-01-01", "2030/01/01", "2030-01-32",
            "2030-01-01T00:00:00Z", "+203-01-01", "2030-01-0a", "２０３０-01-01", "203½-01-01", "", "-", "--", "2030-½-01",
        ])
    func noDay(text: String) throws {
        let json =
            "{\"hosts\": [{\"host\": \"a.test\", \"pins\": [\"\(Self.first)\", \"\(Self.second)\"],\n\"expires\": "
        let found = try failure(json + "\"\(text)\"}]}")
        #expect(found.reason == .invalidPolicy)
        #expect(found.message.hasPrefix("The policy, line 2: Expected a date"), "\(found.message)")
    }

    @Test(
        "A date is its first moment in UTC",
        arguments: [
            ("1970-01-01", 0.0), ("2000-02-29", 951_782_400), ("2030-12-31", 1_924_905_600),
            ("9999-12-31", 253_402_214_400),
        ])
    func days(text: String, seconds: Double) throws {
        let rule = "{\"host\": \"a.test\", \"pins\": [\"\(Self.first)\", \"\(Self.second)\"], \"expires\": \"\(text)\"}"
        let policy = try TrustPolicy(json: "{\"hosts\": [\(rule)]}")
        #expect(policy.hosts.first?.pins?.expires == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "A message contains no control character of the text", arguments: ["\\u0007", "\\u001b[2J", "\\u007f", "\\n"])
    func controlCharacters(escape: String) throws {
        for json in ["{\"a\(escape)\": 1}", "{\"anchors\": \"\(escape)\"}", "{\"hosts\": [{\"host\": \"\(escape)\"}]}"]
        {
            let message = try failure(json).description
            #expect(message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }, "\(message)")
        }
    }

    // MARK: Files

    @Test("Relative files are resolved against the directory of the policy file")
    func beside() throws {
        let (read, direct) = try Self.withFiles { directory in
            let path = "\(directory)/policy.json"
            try Data(Self.whole.utf8).write(to: URL(filePath: path))
            return (try TrustPolicy(contentsOfFile: path), try TrustPolicy(json: Self.whole, directory: directory))
        }
        #expect(read == direct)
    }

    @Test("The files of a policy file without a directory are in the current directory")
    func besideInCurrentDirectory() async throws {
        // In a process of its own, whose current directory can be changed.
        await #expect(processExitsWith: .success) {
            try Self.withFiles { directory in
                try Data(Self.whole.utf8).write(to: URL(filePath: "\(directory)/policy.json"))
                let direct = try TrustPolicy(json: Self.whole, directory: directory)
                try #require(FileManager.default.changeCurrentDirectoryPath(directory))
                for path in ["policy.json", "./policy.json"] {
                    #expect(try TrustPolicy(contentsOfFile: path) == direct)
                }
                #expect(try TrustPolicy(json: Self.whole) == direct)
            }
        }
    }

    @Test("An absolute path is used unchanged, and a parent path is resolved against the directory")
    func paths() throws {
        try Self.withFiles { directory in
            let expected = try TrustAnchors.only([PEM(#require(Self.files["ca.pem"]))])
            for path in ["\(directory)/ca.pem", "./ca.pem", "../\(directory.split(separator: "/").last ?? "")/ca.pem"] {
                #expect(try TrustPolicy(json: "{\"anchors\": [\"\(path)\"]}", directory: directory).anchors == expected)
            }
        }
    }

    @Test("A failure names the file that cannot be read", arguments: ["missing.pem", "", ".", "ca.pem/x", "a\\u0000b"])
    func missingFile(name: String) throws {
        try Self.withFiles { directory in
            let found = try failure("{\n\"anchors\": [\"\(name)\"]}", directory: directory)
            #expect(found.reason == .file)
            #expect(found.message.contains(directory))
        }
        let policy = try #require(throws: RequestFailure.self) {
            try TrustPolicy(contentsOfFile: "/nonexistent/\(name)")
        }
        #expect(policy.reason == .file)
    }

    @Test(
        "A file with other content is refused with the line that names it",
        arguments: [
            ("{\n\"anchors\": [\n\"ca.pem\",\n\"empty.pem\"]}", 4), ("{\n\"anchors\": [\"client.key\"]}", 2),
            ("{\n\"identity\": {\"certificate\": \"ca.crl\", \"key\": \"client.key\"}}", 2),
            ("{\n\"identity\": {\"certificate\": \"client.pem\", \"key\": \"locked.key\"}}", 2),
            ("{\n\"revocation\": {\"lists\": [\n\"empty.pem\"]}}", 3),
        ])
    func wrongFile(json: String, line: Int) throws {
        try Self.withFiles { directory in
            let found = try failure(json, directory: directory)
            #expect(found.reason == .invalidPolicy)
            #expect(found.message.hasPrefix("The policy, line \(line): "), "\(found.message)")
        }
    }

    @Test("Invalid revocation lists are refused", arguments: ["[]", "[\"ca.pem\"]"])
    func wrongLists(list: String) throws {
        try Self.withFiles { directory in
            let found = try failure("{\"revocation\": {\"lists\": \(list)}}", directory: directory)
            #expect(found.reason == .invalidPolicy)
            #expect(found.message.contains("revocation lists"))
        }
    }

    @Test("Errors in a policy file name it, and a file that is too large or not text is refused")
    func badFiles() throws {
        try Self.withFiles { directory in
            let path = "\(directory)/policy.json"
            let contents: [(Data, String)] = [
                (Data("{\n}}".utf8), "“\(path)”, line 2: "), (Data([0x7b, 0xff, 0x7d]), "not UTF-8"),
                (Data(repeating: 0x20, count: 1 << 20) + Data("{}".utf8), "too much"),
            ]
            for (data, text) in contents {
                try data.write(to: URL(filePath: path))
                let found = try #require(throws: RequestFailure.self) { try TrustPolicy(contentsOfFile: path) }
                #expect(found.reason == .invalidPolicy)
                #expect(found.message.contains(text), "\(found.message)")
            }
        }
    }

    // MARK: Hostile texts

    @Test("32 levels are parsed, and more are refused")
    func nesting() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try failure(nested(32)).message.contains("an object, not an array"))
        #expect(try failure(nested(33)).message.contains("more than 32 levels deep"))
        #expect(try failure(nested(500_000)).message.contains("more than 32 levels deep"))
        #expect(try failure(String(repeating: "{\"a\":", count: 200_000)).message.contains("more than 32 levels deep"))
        // Many values at one level are not nested.
        let wide = "[" + String(repeating: "[],", count: 100_000) + "[]]"
        #expect(try failure(wide).message.contains("an object, not an array"))
    }

    @Test("No mutation of a valid text crashes the parser", arguments: 0..<5)
    func mutations(seed: Int) throws {
        var numbers = SeededNumbers(state: UInt64(seed))
        let good = Array(Self.whole.utf8)
        let pieces = [
            "{", "}", "[", "]", "\"", ":", ",", "\\", "\\u", "\\u0000", "\\ud83d", "\\ude00", "null", "true", "-",
            "1e999",
            "0", "\n", "\u{0}", "é", "😀", "*", "**.", "..", "/", "sha256/", "\u{feff}", "9999-12-31", "\u{301}",
        ]
        try Self.withFiles { directory in
            var accepted = 0
            for _ in 0..<2_000 {
                var bytes = good
                for _ in 0..<Int.random(in: 1...3, using: &numbers) {
                    let place = Int.random(in: 0..<max(1, bytes.count), using: &numbers)
                    let end = min(bytes.count, place + Int.random(in: 0...12, using: &numbers))
                    switch Int.random(in: 0..<5, using: &numbers) {
                    case 0: bytes.removeSubrange(min(place, end)..<end)
                    case 1:
                        bytes.insert(contentsOf: numbers.text(of: pieces, upTo: 2).utf8, at: min(place, bytes.count))
                    case 2: bytes.insert(contentsOf: bytes[min(place, end)..<end], at: min(place, bytes.count))
                    case 3: bytes.removeSubrange(min(place, bytes.count)...)
                    default:
                        if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &numbers) }
                    }
                }
                do {
                    _ = try TrustPolicy(json: String(decoding: bytes, as: UTF8.self), directory: directory)
                    accepted += 1
                } catch {
                    let reason = (error as? RequestFailure)?.reason
                    #expect(reason == .invalidPolicy || reason == .file)
                }
            }
            // Some mutations change only white space or a name.
            #expect(accepted > 0)
            #expect(accepted < 1_000)
        }
    }

    @Test(
        "A path that is not a regular file fails with file and never blocks",
        .timeLimit(.minutes(5)), arguments: ["pipe", "directory", "/dev/null", "/dev/zero"])
    func irregularFiles(name: String) throws {
        let directory = try ScratchDirectory()
        #expect(mkfifo(directory("pipe"), 0o600) == 0)
        #expect(mkdir(directory("directory"), 0o700) == 0)
        let path = name.utf8.first == UInt8(ascii: "/") ? name : directory(name)
        let policy = #expect(throws: RequestFailure.self) { try TrustPolicy(contentsOfFile: path) }
        #expect(policy?.reason == .file)
        let certificate = #expect(throws: RequestFailure.self) { try PEM(contentsOfFile: path) }
        #expect(certificate?.reason == .file)
    }

    @Test("A truncated text is never accepted")
    func truncations() throws {
        try Self.withFiles { directory in
            for count in 0..<Self.whole.utf8.count {
                let text = String(decoding: Self.whole.utf8.prefix(count), as: UTF8.self)
                #expect(throws: RequestFailure.self) { try TrustPolicy(json: text, directory: directory) }
            }
        }
    }
}
