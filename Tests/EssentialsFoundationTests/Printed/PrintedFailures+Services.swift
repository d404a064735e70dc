import EssentialsCurl
import EssentialsTestKit
import Foundation
import ServiceEssentials
import Testing

private struct Film: Codable, Sendable {
    var title: String
    var length = 1.5
}

// Failures of a data-request service, redirects and downloads.
extension FailureMaker {
    static func responses() async throws -> [PrintedFailure] {
        let json = [("Content-Type", "application/json")]
        let complaint = "<html>The plain HTTP request was sent to HTTPS port \(Secret.answer)</html>"
        return try await [
            serviceFailure("A missing resource") { _ in
                .response(status: 404, body: Secret.answer)
            } _: {
                let _: Film = try await $0.get("films/1", parameters: ["token": Secret.query])
            },
            serviceFailure("An http request to a port for https") { _ in
                .response(status: 400, body: complaint)
            } _: {
                let _: Film = try await $0.get("films/1", parameters: ["token": Secret.query])
            },
            serviceFailure("A response without a body") { _ in
                .response(status: 200, headers: json)
            } _: {
                let _: Film = try await $0.get("films/1", parameters: ["token": Secret.query])
            },
            serviceFailure("A body that does not fit its model") { _ in
                .response(headers: json, body: #"{"name":"\#(Secret.answer)"}"#)
            } _: {
                let _: Film = try await $0.get("films/1", parameters: ["token": Secret.query])
            },
            serviceFailure("A body of a type without a codec") { _ in
                .response(headers: [("Content-Type", "video/mp4")], body: Secret.answer)
            } _: {
                let _: Film = try await $0.get("films/1", parameters: ["token": Secret.query])
            },
            serviceFailure("A model that cannot be encoded") { _ in
                .response(body: "")
            } _: {
                let film = Film(title: Secret.body, length: .nan)
                let _: Film = try await $0.post("films", body: film)
            },
            serviceFailure("A Digest challenge that is too weak") { _ in
                .response(
                    status: 401, headers: [("WWW-Authenticate", "Digest realm=\(Secret.answer), nonce=n")])
            } _: { service in
                service.setAuthorization(
                    try .digest(user: "ada", password: Secret.user, minimum: DigestMinimum(.sha256)))
                let _: Film = try await service.get("films/1", parameters: ["token": Secret.query])
            },
        ]
    }

    static func services() async throws -> [PrintedFailure] {
        func redirecting(_ location: String) -> @Sendable (ServerRequest) -> ServerReply {
            { _ in .response(status: 307, headers: [("Location", location)]) }
        }
        var broken = HTTPDataRequestService.Configuration()
        broken.limits.breaker = .standard
        broken.limits.breaker?.minimumOutcomes = 1
        // Long enough that the time left, which is rounded up to seconds, is the same in every run.
        broken.limits.breaker?.openTime = .seconds(60)
        func sent(_ service: HTTPDataRequestService) async throws {
            try await service.send(DataRequest(.put, "films", query: ["token": Secret.query]))
        }
        return try await [
            serviceFailure("A redirect loop", handler: redirecting("films?token=\(Secret.answer)"), sent),
            serviceFailure(
                "A redirect to another scheme", handler: redirecting("ftp://a.example/\(Secret.answer)"), sent),
            serviceFailure("A redirect that would repeat a stream", handler: redirecting("other")) { service in
                let pieces = AsyncStream<Data> {
                    $0.yield(Data(Secret.body.utf8)); $0.finish()
                }
                var request = DataRequest(.put, "films", query: ["token": Secret.query])
                request.body = .stream(pieces, length: nil)
                try await service.send(request)
            },
            serviceFailure("A path that leaves the base URL") { _ in
                .close
            } _: { service in
                try await service.send(DataRequest(.get, "../../admin", query: ["token": Secret.query]))
            },
            serviceFailure("A request while the circuit of its origin is open", broken) { _ in
                .response(status: 503, body: Secret.answer)
            } _: { service in
                _ = try? await sent(service)
                try await sent(service)
            },
            serviceFailure("A request for a stored response, without a cache") { _ in
                .response(body: Secret.answer)
            } _: { service in
                var request = DataRequest(.get, "films", query: ["token": Secret.query])
                request.headerFields[.cacheControl] = "only-if-cached"
                try await service.send(request)
            },
            serviceFailure("A request after the service was shut down") { _ in
                .close
            } _: { service in
                await service.shutdown()
                try await sent(service)
            },
        ]
    }
}
