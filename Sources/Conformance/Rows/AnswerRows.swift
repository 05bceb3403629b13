import Encoding
import Engine
import HTTP
import OAuth
import Profiles
import SignIn
import Transport

/// What every answer keeps to.
extension Row {
    static let answers: [Row] = [
        Row("answer.malformed", "wire 2", "malformed input is the caller's fault, never a 5xx", malformed),
        Row("answer.no_store", "RFC 6749 5.1, wire 1", "answers are not to be stored") {
            lab, score async throws(ProbeFault) in
            if lab.answered == 0 { _ = try await ProbeFlow(lab).finish() }
            score.check(
                "\(lab.answered) answers of the challenge and token endpoints", lab.storable.isEmpty,
                expected: "Cache-Control: no-store", got: lab.storable.first.map { "not so: \($0)" } ?? "no-store")
        },
    ]

    /// Bodies and headers nobody can read, at every endpoint.
    private static func malformed(_ lab: Lab, _ score: Score) async throws(ProbeFault) {
        let metadata = lab.setup.metadata
        let request = lab.setup.profile.members.ceremonyRequest.request
        let junk = junk(around: JSON.string(request).text)
        let forms = [metadata.authorizationChallengeEndpoint, metadata.tokenEndpoint].compactMap { $0 }
        for url in forms {
            for (name, type, body) in junk {
                try await judge(name, url, type, body, proof: nil, lab, score)
            }
            for (name, proof) in junkProofs {
                let body = FormFields([("grant_type", "refresh_token"), ("response_type", "code")]).encoded()
                try await judge(name, url, "application/x-www-form-urlencoded", body, proof: proof, lab, score)
            }
        }
        let call = try await ProbeFlow(lab).advance(to: .faceToken)
        let url = try lab.own("the address of the ceremony") { try HTTPURL(call.url) }
        for (name, type, body) in junk { try await judge(name, url, type, body, proof: nil, lab, score) }
        for text in ["", ".", "a.b.c", "e30.e30.", "e30.W10.AA", String(repeating: "A", count: 9000)] {
            let body = JSON.object([(request, .string(text))]).serialized()
            try await judge(
                "a ceremony of \(text.count) characters", url, "application/json", body, proof: nil, lab, score)
        }
    }

    private static func judge(
        _ name: String, _ url: HTTPURL, _ type: String, _ body: [UInt8], proof: String?, _ lab: Lab, _ score: Score
    ) async throws(ProbeFault) {
        var request = ClientRequest(url: url, method: "POST", fields: ["Content-Type": type], body: body)
        if let proof { request.fields.append("DPoP", proof) }
        let answer = try await lab.fire(request)
        score.check(
            "\(name) at \(url.path)", (400..<500).contains(answer.status), expected: "4xx", got: answer.summary)
    }

    /// Bodies with something wrong in them; `name` is the member a ceremony stands under, as JSON has it.
    private static func junk(around name: String) -> [(name: String, type: String, body: [UInt8])] {
        let form = "application/x-www-form-urlencoded"
        let json = "application/json"
        return [
            ("nothing", form, []), ("a broken escape", form, Array("a=%zz".utf8)),
            ("bytes that are no UTF-8", form, [0x61, 0x3D, 0xFF, 0xFE]), ("a NUL", form, Array("a=%00".utf8)),
            ("another media type", "text/plain", Array("a=b".utf8)), ("no media type to speak of", ";;", []),
            ("JSON that ends early", json, Array("{\(name):".utf8)), ("an array", json, Array("[1]".utf8)),
            ("a number too large", json, Array("{\(name):1e999}".utf8)),
            ("a deep nest", json, Array(repeating: UInt8(ascii: "["), count: 5000)),
            ("a name twice", json, Array("{\(name):\"a\",\(name):\"b\"}".utf8)),
        ]
    }

    private static let junkProofs: [(name: String, proof: String)] = [
        ("a proof that is no token", "x"), ("a proof of two parts", "e30.e30"), ("a proof of dots", ".."),
        ("a header that is no object", "WzFd.e30.AA"), ("alg twice", "eyJhbGciOiJFUzI1NiIsImFsZyI6IkVTMjU2In0.e30.AA"),
        ("a proof of 20,000 characters", String(repeating: "A", count: 20_000)),
    ]
}
