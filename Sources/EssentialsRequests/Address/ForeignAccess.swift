import EssentialsHTTP

/// Sends requests inside and outside an environment's base URL.
///
/// A request below the base URL, or to a host that is listed with credentials, is sent by the data-request service. Any
/// other one is sent by the open service, to listed hosts only.
package struct ForeignAccess: Sendable {
    package let requests: any DataRequestService
    /// Sends requests outside the base URL; `nil` means that there are none.
    package let open: (any OpenRequestService)?
    package let hosts: [ForeignHost]

    package init(
        requests: any DataRequestService, open: (any OpenRequestService)?, hosts: [ForeignHost]
    ) {
        (self.requests, self.open, self.hosts) = (requests, open, hosts)
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
        guard let open else {
            throw RequestFailure(
                .hostRefused, "The service has no open service for \(host.text).",
                remedy: "Create the service with one, such as `UnsafeRequestService`.", host: host.text)
        }
        var copy = OpenRequest(
            url, headerFields: request.headerFields, expecting: request.expectedStatus, options: request.options)
        copy.method = request.method
        copy.redirects = request.redirects
        copy.retry = request.retry
        copy.raisablePriority = request.raisablePriority
        copy.errorModel = request.errorModel
        copy.downloadProgress = request.downloadProgress
        return try await open.send(copy.requesting(like: request))
    }

    private func isListed(_ host: HostName, withCredentials: Bool) -> Bool {
        hosts.contains { $0.names(host) && ($0.sendsCredentials || !withCredentials) }
    }
}
