import EssentialsHTTP
import EssentialsPersistence
import EssentialsRequests
import EssentialsTransport
import Foundation
import GRDB
import Hummingbird
import NIOSSL
import ServiceEssentials

let video: ServiceEssentials.MediaType = .octetStream
let policy = TrustPolicy(minimumTLS: ServiceEssentials.TLSVersion.tls13)
func text(of body: ServiceEssentials.ResponseBody) async throws -> Data {
    try await body.collect(upTo: 1 << 20)
}

typealias APIMediaType = ServiceEssentials.MediaType

func qualifiedNames() {
    isSame(EssentialsPersistence.Column<EntityRow, Int>.self, ServiceEssentials.Column<EntityRow, Int>.self)
    isSame((any EssentialsRequests.TypedRequest).self, (any ServiceEssentials.TypedRequest).self)
    isSame(EssentialsHTTP.MediaType.self, APIMediaType.self)
    isSame(EssentialsTransport.TLSVersion.self, ServiceEssentials.TLSVersion.self)
    isSame(EssentialsTransport.RequestBody.self, ServiceEssentials.RequestBody.self)
    isSame(EssentialsTransport.ResponseBody.self, ServiceEssentials.ResponseBody.self)
    isSame(ServiceEssentials::MediaType.self, ServiceEssentials.MediaType.self)
    _ = try? RequestBuilder(.put, "notes/1").body(text: "{}", type: .json).build()
    _ = TrustPolicy(minimumTLS: .tls13)
}
