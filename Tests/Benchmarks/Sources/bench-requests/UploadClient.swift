internal import EssentialsCurl
internal import EssentialsHTTP
internal import EssentialsRequests
internal import Figures
internal import LoadDriver

/// The load client that sends its file as a part of a multipart body through the service.
enum UploadClient {
    static func run() async throws -> Int32 {
        let options = ClientOptions.fromCommandLine()
        guard let file = options.uploadFile else { throw BenchmarkError("--upload is missing") }
        let transport = try CurlTransport()
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(options.url), transport: transport)
        let status = await LoadDriver(client: "bench-requests", options: options).run {
            var form = try MultipartBody()
            try form.append(.field("title", "Benchmark"))
            try form.append(.file(file, name: "film", type: "video/mp4"))
            let response = try await service.send(DataRequest(.post, "films", body: .multipart(form)))
            return Reply(
                status: response.status.code, bodyLength: response.body.data?.count ?? 0, wireProtocol: .http1)
        }
        await service.shutdown()
        return status
    }
}
