import EssentialsInspector
import EssentialsObservability
import EssentialsTestKit
import Foundation
import ServiceEssentials
import Testing

@Suite(
    "The inspector's page in a browser", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Browser.driver != nil, "chromedriver is not installed"))
struct InspectorPageTests {
    private let inspector = Inspector(program: "shop 1.4")
    private let transport = ScriptedTransport()
    private let service: HTTPDataRequestService
    private let locator = ServiceLocator(name: "shop")
    private static let rows = "#rows tbody tr"
    private static let selected = "tr[aria-selected=true]"
    private static let hostile = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"

    init() throws {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = [inspector]
        transport.on(.get, "/films/*").answer(json: ["title": "Metropolis"])
        let fields: HTTPFields = [try #require(HTTPField.Name("X-Odd")): Self.hostile]
        transport.on(.get, "/films/7").answer(.notFound, text: "none", headerFields: fields)
        service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://films.example/"), transport: transport,
            configuration: configuration)
        try locator.register(service, as: (any DataRequestService).self)
        try locator.register(inspector, as: Inspector.self)
    }

    private func send(_ count: Int) async throws {
        for number in 0..<count {
            let response = try await service.send(RequestBuilder(.get, "films/\(number)").expecting(200...599))
            _ = try await response.body.collect(upTo: 1000)
        }
    }

    /// Writes a page to a file, and returns its address.
    private func file(_ report: InspectorReport, in folder: TemporaryFolder) throws -> String {
        "file://\(try folder.file("page.html", report.page))"
    }

    private func checkRows(_ browser: Browser, count: Int) async throws {
        let addresses = try await browser.texts("#rows td.c-url")
        #expect(addresses.count == count)
        for (number, text) in addresses.enumerated() {
            #expect(text.contains("films/\(number)"), "row \(number): \(text)")
        }
        let numbers = try await browser.texts("#rows td.c-no").map { $0.split(separator: ".").compactMap { Int($0) } }
        #expect(
            numbers.count == count && zip(numbers, numbers.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        #expect(try await browser.text("#summary").contains("\(count) exchanges"))
    }

    @Test("A page from disk shows fifty requests in order, and is used with the keyboard alone")
    func saved() async throws {
        try await send(50)
        let folder = try TemporaryFolder()
        let address = try file(await inspector.report(of: locator), in: folder)
        try await Browser.run { browser in
            _ = try await browser.requestedAddresses()
            try await browser.open(address)
            try await checkRows(browser, count: 50)
            try await browser.takeScreenshot("waterfall")

            try await browser.press("/status:404")
            #expect(try await browser.count(Self.rows) == 1)
            #expect(try await browser.text(Self.rows).contains("films/7"))
            try await browser.press(Browser.Key.down)
            #expect(try await browser.count(Self.selected) == 1)
            try await browser.press(Browser.Key.enter)
            let focus = "return document.activeElement.id"
            #expect(try await browser.script("return document.getElementById('detail').hidden") == false)
            #expect(try await browser.script(focus) == "view-overview")
            #expect(try await browser.text("#view").contains("404"))
            try await browser.press(Browser.Key.right + Browser.Key.right)
            #expect(try await browser.script(focus) == "view-response")
            #expect(try await browser.text("#view").contains("X-Odd"))
            try await browser.takeScreenshot("detail")
            try await browser.press(Browser.Key.escape)
            #expect(try await browser.script("return document.getElementById('detail').hidden") == true)
            try await browser.press(Browser.Key.escape)
            #expect(try await browser.count(Self.rows) == 50)

            try await browser.script("document.getElementById('tab-services').click()")
            #expect(try await browser.text("#panel-services").contains("DataRequestService"))
            #expect(try await browser.count("#panel-services svg") == 1)
            try await browser.takeScreenshot("services")
            #expect(try await browser.problems() == [])
            #expect(try await browser.requestedAddresses() == [address])
        }
        await locator.close()
    }

    @Test("A live page shows the same rows, and a new request within a second")
    func live() async throws {
        try await send(50)
        let server = try await RunningInspector(inspector, of: locator)
        try await Browser.run { browser in
            _ = try await browser.requestedAddresses()
            try await browser.open(server.address)
            let origin = "http://127.0.0.1:\(server.port)/"
            #expect(try await browser.script("return location.href") == .string(origin))
            #expect(try await browser.script("return document.cookie") == "")
            #expect(try await browser.wait { try await browser.text("#live") == "live" } != nil)
            try await checkRows(browser, count: 50)
            let begin = ContinuousClock.now
            _ = try await service.send(DataRequest(.get, "films/50"))
            #expect(try await browser.wait { try await browser.count(Self.rows) == 51 } != nil)
            let took = ContinuousClock.now - begin
            #expect(took < .seconds(1), "\(took)")
            try await checkRows(browser, count: 51)

            try await server.end()
            #expect(try await browser.wait { try await browser.text("#live") != "live" } != nil)
            let addresses = try await browser.requestedAddresses()
            let isOwn = addresses.map { $0.hasPrefix(origin) }
            #expect(addresses.count >= 2 && !isOwn.contains(false), "\(addresses)")
        }
        await locator.close()
    }

    @Test("A page that follows has no error in its console")
    func console() async throws {
        let server = try await RunningInspector(inspector, of: locator)
        try await Browser.run { browser in
            try await browser.open(server.address)
            #expect(try await browser.wait { try await browser.text("#live") == "live" } != nil)
            try await send(2)
            #expect(try await browser.wait { try await browser.count(Self.rows) == 2 } != nil)
            #expect(try await browser.problems() == [])
        }
        try await server.end()
        await locator.close()
    }

    @Test("A page that is refused because too many follow asks again until there is room")
    func room() async throws {
        let server = try await RunningInspector(inspector, of: locator)
        let cookie = try await server.cookie()
        var followers: [RawConnection] = []
        for _ in 0..<InspectorRoutes.maximumViewers {
            followers.append(try #require(try await server.follower(cookie)))
        }
        try await Browser.run { browser in
            try await browser.open(server.address)
            #expect(try await browser.wait { try await browser.text("#live") == "refused" } != nil)
            followers = []
            #expect(try await browser.wait { try await browser.text("#live") == "live" } != nil)
            try await send(1)
            #expect(try await browser.wait { try await browser.count(Self.rows) == 1 } != nil)
        }
        try await server.end()
        await locator.close()
    }

    @Test("Markup of a server in a field and in an address stays text")
    func hostile() async throws {
        try await send(8)
        var report = await inspector.report()
        var entry = try #require(report.har.entries.last)
        entry.request.url = "https://films.example/\(Self.hostile)"
        report.har.entries[7] = entry
        let folder = try TemporaryFolder()
        let address = try file(report, in: folder)
        try await Browser.run { browser in
            try await browser.open(address)
            #expect(try await browser.text("#rows tbody tr:last-child").contains(Self.hostile))
            try await browser.script("document.querySelector('#rows tbody tr:last-child').click()")
            var seen = ""
            for tab in ["overview", "request", "response", "timing", "curl", "events"] {
                try await browser.script("document.getElementById('view-' + arguments[0]).click()", .string(tab))
                seen += try await browser.text("#view")
            }
            #expect(seen.components(separatedBy: Self.hostile).count > 2)
            #expect(try await browser.script("return window.hacked === undefined") == true)
            #expect(try await browser.count("img, iframe, [onerror]") == 0)
            #expect(try await browser.problems() == [])
        }
        await locator.close()
    }

    @Test("A page of 500 requests is smaller than 3 MB, and its rows are there within seconds")
    func many() async throws {
        try await send(500)
        let folder = try TemporaryFolder()
        let report = await inspector.report(of: locator)
        let size = report.page.utf8.count
        #expect(size < 3_000_000, "\(size) bytes")
        let address = try file(report, in: folder)
        try await Browser.run { browser in
            try await browser.open(address)
            #expect(try await browser.count(Self.rows) == 500)
            let time = try await browser.script(
                "return Math.round(performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd)")
            // On an idle machine it is a part of a second.
            #expect((time.integer ?? .max) < 5_000, "\(time) ms")
            print("500 requests: \(size) bytes, rows after \(time.integer ?? -1) ms")
        }
        await locator.close()
    }

    @Test("A wrong token shows nothing of the report, nor does the page of another port's inspector")
    func wrongToken() async throws {
        try await send(3)
        let server = try await RunningInspector(inspector, of: locator)
        let other = try await RunningInspector(Inspector(program: "other"))
        try await Browser.run { browser in
            // The cookie of the other inspector, which browsers send to all ports.
            try await browser.open(other.address)
            #expect(try await browser.text("#program").contains("other"))
            for path in ["?token=wrong", "", "report.json"] {
                try await browser.open("http://127.0.0.1:\(server.port)/\(path)")
                let text = try await browser.script("return document.documentElement.outerHTML").string ?? ""
                #expect(!text.isEmpty && !text.contains("films") && !text.contains("shop"), "\(text)")
            }
        }
        try await server.end()
        try await other.end()
        await locator.close()
    }
}
