import EssentialsHTTP
import Testing

@Suite struct TransferProgressTests {
    @Test(
        "The fraction is between 0 and 1, or nil",
        arguments: [
            (0, 10, 0.0), (5, 10, 0.5), (10, 10, 1), (20, 10, 1), (0, 0, 1), (5, nil, nil), (.max, .max, 1),
        ] as [(Int64, Int64?, Double?)])
    func fraction(bytes: Int64, expected: Int64?, fraction: Double?) {
        #expect(TransferProgress(bytes: bytes, expected: expected).fraction == fraction)
    }

    @Test(
        "The remaining time follows from the rate, or is nil",
        arguments: [
            (0, 10, 2.0, .seconds(5)), (10, 10, 0, .zero), (20, 10, 0, .zero), (0, 10, 0, nil), (0, nil, 5, nil),
            (0, .max, 0.001, nil), (0, 10, .nan, nil), (0, 10, -1, nil),
        ] as [(Int64, Int64?, Double, Duration?)])
    func remaining(bytes: Int64, expected: Int64?, rate: Double, remaining: Duration?) {
        #expect(TransferProgress(bytes: bytes, expected: expected, rate: rate).remaining == remaining)
    }
}
