import Control
import Encoding
import HTTP
import Transport

/// What a forwarding proxy makes of a request and of the API's answer: values in, values out.
struct Forwarding: Sendable {
    /// Where everything goes: an origin, and what is put in front of every path.
    let base: HTTPURL

    /// What concerns one connection only (RFC 9110 section 7.6.1), is made anew, or is the phone's to set.
    private static let ours: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade", "expect", "content-length", "host", "authorization", "dpop",
    ]

    /// The refusal of a request that may not be forwarded, or nil.
    ///
    /// The proxy adds somebody's session to whatever it is sent, so a web page of another site must not reach it:
    /// neither under a name of its own (DNS rebinding), nor across sites, which browsers announce.
    func refusal(of request: HTTPRequest, from peer: Peer) -> HTTPResponse? {
        if let refusal = LoopbackRule.refusal(of: request, from: peer) { return refusal }
        let isForeign = request.fields.values("Origin").contains { (try? HTTPURL($0))?.isLoopback != true }
        if isForeign || request.fields["Sec-Fetch-Site"] == "cross-site" {
            return Self.problem(403, "cross_site", "a page of another site may not use the phone's session")
        }
        guard request.path.hasPrefix("/"), request.method != "CONNECT" else {
            return Self.problem(400, "not_forwarded", "only requests for a path are forwarded")
        }
        return nil
    }

    /// What the control API is asked to fetch, or the refusal of a target that is no URL.
    func order(for request: HTTPRequest) throws(HTTPURLError) -> JSON {
        let url = try base.replacing(target: target(of: request))
        let named = Set(request.fields.tokens("Connection").map { $0.lowercased() })
        let headers = request.fields.filter { field in
            let name = field.name.lowercased()
            return !Self.ours.contains(name) && !named.contains(name)
        }
        return [
            "url": .string(url.text), "method": .string(request.method),
            "headers": .array(headers.map { [.string($0.name), .string($0.value)] }),
            "body_base64url": .string(Base64URL.encode(request.body)), "binary": true,
        ]
    }

    private func target(of request: HTTPRequest) -> String {
        let prefix = base.path.hasSuffix("/") ? String(base.path.dropLast()) : base.path
        return prefix + request.path + (request.query.map { "?" + $0 } ?? "")
    }

    /// The API's answer as the proxy gives it: unchanged, but for what concerns one connection only.
    func answer(_ fetched: FetchedDocument, to method: String) -> HTTPResponse {
        let named = Set(fetched.fields.tokens("Connection").map { $0.lowercased() })
        // Without a body, the length is the API's word and not ours.
        let keepsLength = method == "HEAD" || fetched.status == 304
        var fields = HTTPFields()
        for field in fetched.fields {
            let name = field.name.lowercased()
            if named.contains(name) || (Self.ours.contains(name) && !(name == "content-length" && keepsLength)) {
                continue
            }
            fields.append(field.name, field.value)
        }
        return HTTPResponse(status: fetched.status, reason: fetched.reason, fields: fields, body: fetched.body)
    }

    /// What the proxy answers where there is no answer of the API's.
    func answer(_ failure: ControlFailure) -> HTTPResponse {
        let failure = CommandFailure(failure)
        return Self.problem(502, failure.code, failure.message)
    }

    /// A problem report of the proxy's own.
    static func problem(_ status: Int, _ code: String, _ detail: String) -> HTTPResponse {
        .problem(
            status: status, title: code.replacing("_", with: " "), detail: detail, type: "urn:understudy:error:\(code)",
            extra: [("code", .string(code))])
    }
}
