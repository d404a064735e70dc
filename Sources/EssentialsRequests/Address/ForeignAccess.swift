import EssentialsHTTP

/// Sends requests inside and outside an environment's base URL.
///
/// A request below the base URL, or to a host that is listed with credentials, is sent as usual. Any other one is sent as a
/// request to any server, which carries nothing of the service's, and to listed hosts only.
package struct ForeignAccess: Sendable {
    package let requests: any DataRequestService
    /// Sends requests outside the base URL.
    package let open: any DataRequestService
    package let hosts: [ForeignHost]

    /// - Parameter open: Sends requests outside the base URL; `nil` means the same service.
    package init(
        requests: any DataRequestService, open: (any DataRequestService)?, hosts: [ForeignHost]
    ) {
        (self.requests, self.open, self.hosts) = (requests, open ?? requests, hosts)
    }

    /// - Parameter place: Where the URL of the request lies.
    /// - Throws: `hostRefused` if the host is not listed, and the failures of the services.
    package func send(_ request: DataRequest, to place: ResourceURL.Place) async throws(RequestFailure) -> DataResponse
    {
        guard !request.base.isEnvironment, let url = try request.base.url else {
            return try await requests.send(request)
        }
        switch place {
        case .below: return try await requests.send(request)
        case .sameOrigin where isListed(url.origin.host, withCredentials: true):
            return try await requests.send(request)
        case .sameOrigin, .otherOrigin, .unusable: return try await sendOpenly(url, request)
        }
    }

    private func sendOpenly(_ url: RequestURL, _ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        let host = url.origin.host
        guard isListed(host, withCredentials: false) else {
            throw RequestFailure(
                .hostRefused, "\(host.text) is outside the environment's base URL, and no listed host.",
                remedy: "Add it to `foreignHosts` of the service's configuration if it is trusted.", host: host.text)
        }
        return try await open.send(request.atAnyServer(url))
    }

    private func isListed(_ host: HostName, withCredentials: Bool) -> Bool {
        hosts.contains { $0.names(host) && ($0.sendsCredentials || !withCredentials) }
    }
}
