import EssentialsInspector
import FoundationEssentials
import Hummingbird
import ServiceEssentials
import ServiceLifecycle

/// The pages for the people who operate the server.
extension Router {
    /// The answer of a readiness probe, with the health of all services.
    func addHealth(of locator: ServiceLocator) {
        get("health") { _, _ -> Response in
            let report = await locator.health()
            let body = try JSONEncoder().encode(report)
            return Response(
                status: report.isReady ? .ok : .serviceUnavailable, headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
        }
    }

    /// The pages of an inspector.
    func add(_ routes: InspectorRoutes) {
        for path in [routes.path, routes.path + "/**"] {
            on("\(path)", method: .get) { request, _ in
                let response = await routes.respond(to: request.head)
                let (status, headers) = (response.head.status, response.head.headerFields)
                switch response.body {
                case .bytes(let bytes):
                    return Response(
                        status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
                case .events(let events):
                    let body = ResponseBody { writer in
                        // The server waits for its responses when it ends, and this one has no end of its own.
                        for try await text in events.cancelOnGracefulShutdown() {
                            try await writer.write(ByteBuffer(bytes: text))
                        }
                        try await writer.finish(nil)
                    }
                    return Response(status: status, headers: headers, body: body)
                }
            }
        }
    }
}
