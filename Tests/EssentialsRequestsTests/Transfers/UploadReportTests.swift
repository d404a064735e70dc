import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Upload progress")
struct UploadReportTests {
    /// Reads bodies to their end, like a network transport.
    private func fixture() throws -> ServiceFixture {
        try ServiceFixture(
            StubTransport { request throws(RequestFailure) in
                if case .stream(_, _, let open) = request.body.content {
                    let next = open()
                    while (try? await next()) != nil {}
                }
                return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()))
            })
    }

    @Test("Each attempt of a request value reports its progress from start to end")
    func eachSending() async throws {
        let values = Mutex<[TransferProgress]>([])
        let fixture = try fixture()
        var request = DataRequest(.put, "film", body: .data(Data(count: 100_000)))
        request.uploadProgress = ProgressReport(every: .zero) { value in values.withLock { $0.append(value) } }
        for _ in 1...3 { try await fixture.service.send(request) }
        #expect(values.withLock { $0.map(\.bytes) } == [0, 65_536, 100_000, 0, 65_536, 100_000, 0, 65_536, 100_000])
        #expect(
            values.withLock { $0.map(\.bytesSinceLast) } == [0, 65_536, 34_464, 0, 65_536, 34_464, 0, 65_536, 34_464])
    }

    @Test("A handler, the request's own report and the token all receive the progress")
    func handlerAndReport() async throws {
        let own = Mutex<Int64>(0)
        let handled = Mutex<Int64>(0)
        let fixture = try fixture()
        var request = DataRequest(.put, "film", body: .data(Data(count: 100_000)))
        request.uploadProgress = ProgressReport { value in own.withLock { $0 = value.bytes } }
        let token = Mutex<CancellableToken?>(nil)
        let result = await withCheckedContinuation { [request] continuation in
            let started = fixture.service.send(
                request, progress: { value in handled.withLock { $0 = value.bytes } },
                completion: { continuation.resume(returning: $0) })
            token.withLock { $0 = started }
        }
        #expect(try result.get().status == .ok)
        #expect(own.withLock { $0 } == 100_000)
        #expect(handled.withLock { $0 } == 100_000)
        #expect(token.withLock { $0?.progress?.bytes } == 100_000)
    }

    @Test("A handler's interval limits the number of reports, except the first and the last one")
    func interval() async throws {
        let values = Mutex<[Int64]>([])
        let fixture = try fixture()
        let request = DataRequest(.put, "film", body: .data(Data(count: 200_000)))
        let cases: [(Duration, [Int64])] = [
            (.seconds(600), [0, 200_000]), (.zero, [0, 65_536, 131_072, 196_608, 200_000]),
        ]
        for (interval, expected) in cases {
            values.withLock { $0 = [] }
            _ = await withCheckedContinuation { continuation in
                fixture.service.send(
                    request, progressInterval: interval,
                    progress: { value in values.withLock { $0.append(value.bytes) } },
                    completion: { continuation.resume(returning: $0) })
            }
            #expect(values.withLock { $0 } == expected)
        }
    }
}
