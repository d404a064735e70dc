import EssentialsHTTP
import EssentialsRequests

/// Counts the requests of a service.
struct CountingRequests: DataRequestDecorator {
    let next: any DataRequestService
    let counter: ActivityCounter

    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        let activity = counter.begin()
        return try await next.send(request).counted(as: activity)
    }

    /// The next service resumes a download better than a decorator can.
    func download(
        _ request: DataRequest, to destination: String, options: DownloadOptions, progress: ProgressReport?
    ) async throws(RequestFailure) -> DownloadedFile {
        let activity = counter.begin()
        defer { activity.end() }
        return try await next.download(request, to: destination, options: options, progress: progress)
    }
}

extension DataResponse {
    /// The response, whose streamed body ends the activity. Without a streamed body the activity ends at once.
    fileprivate func counted(as activity: ActivityCounter.Activity) -> DataResponse {
        guard case .stream(let source) = body.content else {
            activity.end()
            return self
        }
        var response = self
        response.body = ResponseBody(source: CountedBody(source, activity))
        return response
    }
}

/// A streamed body that ends an activity when it was read, has failed, or is released.
private final class CountedBody: ResponseBody.Source {
    private let source: any ResponseBody.Source
    private let activity: ActivityCounter.Activity

    init(_ source: any ResponseBody.Source, _ activity: ActivityCounter.Activity) {
        (self.source, self.activity) = (source, activity)
    }

    // Others may hold the activity, but the body is not read any further.
    deinit { activity.end() }

    func next() async throws(RequestFailure) -> BodyChunk? {
        do throws(RequestFailure) {
            if let chunk = try await source.next() { return chunk }
        } catch {
            activity.end()
            throw error
        }
        activity.end()
        return nil
    }

    func cancel() {
        source.cancel()
        activity.end()
    }

    func abandon() {
        source.abandon()
        activity.end()
    }

    var ending: ResponseEnding? { source.ending }
}
