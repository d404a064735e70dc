// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsInspector
import EssentialsObservability
import FoundationEssentials
import ServiceEssentials

private var configuration: HTTPDataRequestService.Configuration { get { given() } set {} }
private let locator = ServiceLocator(name: "app")
private let inspector = Inspector()

// HAR/HARRecorder.swift
private func harRecorderExample() async throws {
    let recorder = HARRecorder()
    configuration.observers = [recorder]
    // after some requests
    try recorder.har.write(to: "/tmp/requests.har")
}

// Inspector.swift
private func inspectorExample() async throws {
    let inspector = Inspector(program: "shop 1.4")
    configuration.observers.append(inspector)
    // later
    let page = await inspector.report(of: locator).page
    try Data(page.utf8).write(to: URL(filePath: "/tmp/shop.html"))
}

// Live/InspectorRoutes.swift
private func inspectorRoutesExample() async {
    let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
    let routes = InspectorRoutes(inspector, of: locator, path: "/inspector")
    print("http://127.0.0.1:8080" + routes.address)  // has the token
    // in the server, for each request whose path begins with /inspector
    let response = await routes.respond(to: request)
    use(response)
}

// Live/InspectorResponse.swift
private func inspectorResponseExample(_ response: InspectorResponse, _ writer: Writer) async throws {
    switch response.body {
    case .bytes(let bytes): try await writer.write(bytes)
    case .events(let events): for await chunk in events { try await writer.write(chunk) }
    }
}
private struct Writer { func write(_ bytes: [UInt8]) async throws {} }

// Report/InspectorReport.swift
private func inspectorReportExample() async throws {
    let report = await inspector.report(of: locator)
    let data = try JSONEncoder().encode(report)
    let page = report.page
    use((data, page))
}
