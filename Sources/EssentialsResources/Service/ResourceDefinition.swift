import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

/// The definition from which a resource was obtained: the settings of its loads.
final class ResourceDefinition: Sendable {
    /// The request without its URL and body, or why the definition is invalid.
    let request: Result<DataRequest, RequestFailure>

    init(_ request: Result<DataRequest, RequestFailure>) {
        self.request = request.map(\.forLoads)
    }

    /// The header fields that select a representation (RFC 9110, 12.5).
    static let selecting: [HTTPField.Name] = [.accept, .acceptLanguage]

    /// The variant that header fields select.
    static func variant(of fields: HTTPFields) -> ResourceVariant {
        ResourceVariant(selecting.compactMap { name in fields[name].map { .field(name, $0) } })
    }

    /// Whether loads with the definition are sent like those without one.
    var isPlain: Bool {
        guard case .success(let request) = request else { return false }
        return request.headerFields.isEmpty && request.codecs == nil && request.errorModel == nil
            && request.options == TransportOptions() && request.expectedStatus.isStandard
            && request.settings.isEmpty
    }
}

extension HTTPResourceService {
    /// The resource at the URL of a definition; see the protocol.
    public func resource<Request: TypedRequest>(_ request: Request) -> Resource<Request.Response> {
        adoptEnvironment()
        let definition = request.definition
        let built: Result<DataRequest, RequestFailure>
        let address: ResourceAddress
        var variant = ResourceVariant.standard
        do throws(RequestFailure) {
            let request: DataRequest = try definition.build()
            // The slash at the end of the base's path belongs to the URL of every resource.
            let base = table.base
            let url = try definition.url(under: try RequestURL(base.prefix + base.suffix))
            address = .url(url.description)
            variant = ResourceDefinition.variant(of: request.headerFields)
            built = .success(request)
        } catch {
            // Invalid definitions with the same description share one resource, whose address is not a URL.
            address = .url("\u{0}\(definition.description)")
            built = .failure(error)
        }
        let resource = resource(at: address, variant: variant)
        resource.core.define(ResourceDefinition(built))
        return resource.resource(as: Request.Response.self)
    }
}
