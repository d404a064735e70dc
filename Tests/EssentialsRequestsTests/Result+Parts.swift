import EssentialsHTTP

extension Result where Failure == RequestFailure {
    /// The value; `nil` for a failure.
    var success: Success? { if case .success(let value) = self { value } else { nil } }
    /// The failure; `nil` for a success.
    var failure: RequestFailure? { if case .failure(let failure) = self { failure } else { nil } }
}
