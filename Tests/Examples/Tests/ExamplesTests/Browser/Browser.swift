import Foundation
import Glibc
import ServiceEssentials

/// Chromium without a window, driven over WebDriver, which is JSON over HTTP.
struct Browser {
    /// Why a command failed, in the driver's words.
    struct CommandError: Error { let text: String }

    /// The program that drives Chromium; `nil` if it is not installed.
    static let driver: URL? = ["/usr/bin/chromedriver", "/usr/local/bin/chromedriver"].lazy
        .map { URL(filePath: $0) }.first { FileManager.default.isExecutableFile(atPath: $0.path) }

    private let process: ExampleProcess
    private let service: HTTPDataRequestService
    private let session: String

    /// Runs a test with a browser of its own, which ends with it.
    static func run(_ body: (Browser) async throws -> Void) async throws {
        guard let driver else { throw CommandError(text: "chromedriver is not installed") }
        let process = try ExampleProcess(driver, ["--port=0"])
        // The end of its session ends Chromium. The driver itself stays after SIGTERM.
        defer { process.signal(SIGKILL) }
        let port = try await process.line(after: "ChromeDriver was started successfully on port ").dropLast()
        let service = try HTTPDataRequestService(environment: ConstantEnvironment("http://127.0.0.1:\(port)/"))
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--user-data-dir=\(process.folder.path("profile"))",
        ]
        let wanted: JSONValue = [
            "goog:chromeOptions": ["args": .array(arguments.map(JSONValue.string))],
            "goog:loggingPrefs": ["browser": "ALL", "performance": "ALL"],
        ]
        let value = try await send(service, .post, "session", ["capabilities": ["alwaysMatch": wanted]])
        let browser = Browser(
            process: process, service: service, session: "session/\(value["sessionId"]?.string ?? "")")
        do {
            try await browser.command(
                "Emulation.setDeviceMetricsOverride",
                [
                    "width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": false,
                ])
            try await body(browser)
        } catch {
            await browser.close()
            throw error
        }
        await browser.close()
    }

    private func close() async {
        _ = try? await Self.send(service, .delete, session)
        await service.shutdown()
    }

    private static func send(
        _ service: HTTPDataRequestService, _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil
    ) async throws -> JSONValue {
        var request = RequestBuilder(method, path).expecting(200...599)
        if let body { request = request.body(json: body) }
        let response = try await service.send(request)
        let data = try await response.body.collect(upTo: 64 << 20)
        let value = try JSONDecoder().decode(Reply.self, from: data).value
        guard response.status == .ok else { throw CommandError(text: "\(value["message"]?.string ?? "")") }
        return value
    }

    private struct Reply: Decodable { let value: JSONValue }

    // MARK: Commands

    func open(_ address: String) async throws {
        _ = try await Self.send(service, .post, "\(session)/url", ["url": .string(address)])
    }

    /// The value that a script of the page returns.
    @discardableResult
    func script(_ code: String, _ arguments: JSONValue...) async throws -> JSONValue {
        try await Self.send(
            service, .post, "\(session)/execute/sync", ["script": .string(code), "args": .array(arguments)])
    }

    /// The text of the first element that a selector matches.
    func text(_ selector: String) async throws -> String {
        try await script("return document.querySelector(arguments[0])?.textContent ?? ''", .string(selector)).string
            ?? ""
    }

    /// The number of elements that a selector matches.
    func count(_ selector: String) async throws -> Int64 {
        try await script("return document.querySelectorAll(arguments[0]).length", .string(selector)).integer ?? -1
    }

    /// The texts of all elements that a selector matches.
    func texts(_ selector: String) async throws -> [String] {
        let code = "return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)"
        return try await script(code, .string(selector)).array?.compactMap(\.string) ?? []
    }

    /// Waits until a condition holds, and returns how long that took; `nil` if it does not hold in time.
    func wait(
        _ limit: Duration = .seconds(10), until condition: () async throws -> Bool
    ) async throws -> Duration? {
        let begin = ContinuousClock.now
        while ContinuousClock.now - begin < limit {
            if try await condition() { return ContinuousClock.now - begin }
            try await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    /// Presses and releases keys, each of them a character or a key of ``Key``, and waits until the page is drawn.
    func press(_ keys: String) async throws {
        let actions = keys.flatMap { key -> [JSONValue] in
            ["keyDown", "keyUp"].map { ["type": .string($0), "value": .string(String(key))] }
        }
        let keyboard: JSONValue = ["type": "key", "id": "keyboard", "actions": .array(actions)]
        _ = try await Self.send(service, .post, "\(session)/actions", ["actions": [keyboard]])
        try await script("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    }

    /// The characters that WebDriver has for keys without one.
    enum Key {
        static let enter = "\u{E007}", escape = "\u{E00C}", right = "\u{E014}", down = "\u{E015}"
    }

    private func command(_ name: String, _ parameters: JSONValue) async throws {
        _ = try await Self.send(
            service, .post, "\(session)/goog/cdp/execute", ["cmd": .string(name), "params": parameters])
    }

    /// The messages of a log since the last look.
    private func log(_ name: String) async throws -> [JSONValue] {
        try await Self.send(service, .post, "\(session)/se/log", ["type": .string(name)]).array ?? []
    }

    /// The errors and warnings of the page's console since the last look.
    func problems() async throws -> [String] {
        try await log("browser").filter { ["SEVERE", "WARNING"].contains($0["level"]?.string) }
            .compactMap { $0["message"]?.string }
    }

    /// The addresses of all requests since the last look.
    func requestedAddresses() async throws -> [String] {
        try await log("performance").compactMap { entry in
            let text = entry["message"]?.string ?? ""
            let message = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))["message"]
            guard message?["method"] == "Network.requestWillBeSent" else { return nil }
            return message?["params"]?["request"]?["url"]?.string
        }
    }

    /// Writes what the page shows to the folder that `ESSENTIALS_SCREENSHOTS` names, if it is set.
    func takeScreenshot(_ name: String) async throws {
        guard let folder = ProcessInfo.processInfo.environment["ESSENTIALS_SCREENSHOTS"] else { return }
        let value = try await Self.send(service, .get, "\(session)/screenshot")
        guard let data = Data(base64Encoded: value.string ?? "") else { return }
        try data.write(to: URL(filePath: folder).appending(path: "\(name).png"))
    }
}
