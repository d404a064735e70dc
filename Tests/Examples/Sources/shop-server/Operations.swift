import FoundationEssentials
import Hummingbird
import ServiceEssentials
import Telemetry

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

    /// The values of all instruments, for Prometheus.
    func addMetrics(of metrics: PrometheusMetrics) {
        get("metrics") { _, _ -> Response in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
        }
    }
}
