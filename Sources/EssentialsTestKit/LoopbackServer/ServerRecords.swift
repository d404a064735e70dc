/// Everything that a server has recorded so far.
struct ServerRecords {
    private(set) var requests: [ServerRequest] = []
    private(set) var requestCount = 0
    var handshakes: [HandshakeRecord] = []
    var refusals: [String] = []
    var applicationBytes = 0
    private var recordedBytes = 0

    /// Counts a request, records it within the limits, and returns it with its number.
    mutating func add(_ request: ServerRequest, options: ServerOptions) -> ServerRequest {
        var request = request
        request.number = requestCount
        requestCount += 1
        if requests.count < options.recordedRequestMaximum,
            recordedBytes + request.body.count <= options.recordedByteMaximum
        {
            recordedBytes += request.body.count
            requests.append(request)
        }
        return request
    }
}
