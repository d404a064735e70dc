import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

/// Responses to resumable downloads that have a coding or a range that was not requested.
@Suite struct DownloadContradictionTests {
    private typealias Response = ScriptedTransport.Response

    private static let broken = RequestFailure(.interrupted, "It ended.")
    private static let film = "abcdefghij"

    private func download(
        _ directory: ScratchDirectory, _ responses: Response...
    ) async throws -> (Result<DownloadedFile, RequestFailure>, [TransportRequest]) {
        let transport = ScriptedTransport(responses)
        var options = DownloadOptions()
        options.resumes = true
        let request = try TransportRequest.film()
        let result: Result<DownloadedFile, RequestFailure>
        do throws(RequestFailure) {
            result = .success(try await transport.download(request, to: directory("film"), options: options))
        } catch { result = .failure(error) }
        return (result, transport.requests)
    }

    /// Leaves a partial file with the first four bytes.
    private func breakOff(_ directory: ScratchDirectory) async throws {
        let fields: HTTPFields = [.eTag: "\"v1\"", .contentLength: "10"]
        let (result, _) = try await download(directory, Response(200, fields, ["abcd"], failure: Self.broken))
        #expect(throws: RequestFailure.self) { try result.get() }
        #expect(directory.text("film.part") == "abcd")
    }

    @Test(
        "A file that the server has only compressed is requested again, decompressed and without a partial file",
        arguments: ["gzip", "GZIP", "br, gzip", "utf-8"])
    func compressed(coding: String) async throws {
        let directory = try ScratchDirectory()
        let fields: HTTPFields = [.contentEncoding: coding, .eTag: "\"v1\"", .contentLength: "3"]
        let (result, requests) = try await download(
            directory, Response(200, fields, ["x"]), Response(200, fields, ["abcd", "efghij"]))
        let file = try result.get()
        #expect(file.bytes == 10 && file.resumedFrom == 0)
        #expect(directory.text("film") == Self.film)
        #expect(try directory.names == ["film"])
        #expect(requests.map { $0.headerFields[.acceptEncoding] } == ["identity", nil])
        #expect(requests.map(\.options.decompresses) == [false, true])
        #expect(requests.allSatisfy { $0.options.delivery == .streamed && !$0.headerFields.contains(.range) })
    }

    @Test("A compressed file that is interrupted leaves nothing that could be resumed")
    func compressedAndBroken() async throws {
        let directory = try ScratchDirectory()
        let fields: HTTPFields = [.contentEncoding: "gzip", .eTag: "\"v1\""]
        let (result, requests) = try await download(
            directory, Response(200, fields, ["x"]), Response(200, fields, ["ab"], failure: Self.broken))
        #expect(#expect(throws: RequestFailure.self) { try result.get() }?.reason == .interrupted)
        #expect(requests.count == 2)
        #expect(try directory.names.isEmpty)
    }

    @Test("A file that the server has compressed since the last attempt is downloaded as a whole")
    func compressedMeanwhile() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let fields: HTTPFields = [.contentEncoding: "gzip", .eTag: "\"v2\""]
        let (result, requests) = try await download(
            directory, Response(416), Response(200, fields, ["x"]), Response(200, fields, ["xyz"]))
        #expect(try result.get().resumedFrom == 0)
        #expect(directory.text("film") == "xyz")
        #expect(requests.map { $0.headerFields[.range] } == ["bytes=4-", nil, nil])
        #expect(requests.map { $0.headerFields[.ifRange] } == ["\"v1\"", nil, nil])
    }

    @Test(
        "A whole response with a Content-Range contradicts itself, and nothing remains",
        arguments: [200, 203], ["bytes 4-9/10", "bytes 0-9/10", "x"])
    func wholeWithRange(status: Int, range: String) async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let (result, requests) = try await download(
            directory, Response(status, [.contentRange: range, .contentLength: "6"], ["efghij"]))
        #expect(#expect(throws: RequestFailure.self) { try result.get() }?.reason == .protocolViolation)
        #expect(requests.count == 1)
        #expect(try directory.names.isEmpty)
    }

    @Test("A Content-Range in the response to a request without a range has no meaning")
    func unaskedRange() async throws {
        let directory = try ScratchDirectory()
        let (result, _) = try await download(
            directory, Response(200, [.contentRange: "bytes 0-9/10"], [Self.film]))
        #expect(try result.get().bytes == 10)
    }
}
