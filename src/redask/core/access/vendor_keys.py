"""Keys whose shape their vendor published, one row a shape: `PATTERN` finds any of them.

A shape begins with a fixed word, and is as long as the vendor makes it at least; after it no key
goes on. Rows are tried by their first letter, so one more costs next to nothing. Shapes without a
word of their own (32 hex digits) are not here: those are found by the name beside them.
"""

from redask.core.text import compiled_later

_W, _D = "[A-Za-z0-9]", "[A-Za-z0-9_-]"
_HEX = "[a-f0-9]"
_ROWS = f"""
aws                (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}(?!{_W})
aws bedrock        ABSK[A-Za-z0-9+/=]{{40,}}+
alibaba            LTAI[A-Za-z0-9]{{12,26}}+(?!{_W})
azure ad           {_W}{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{31,34}}
azure devops       {_W}{{52}}[A-Za-z0-9]{{0,20}}AZDO{_W}{{4}}
google             AIza{_D}{{35}}
google oauth       ya29\\.{_D}{{20,}}+
google client      GOCSPX-{_D}{{20,}}+
google refresh     1//0{_D}{{30,}}+
google gemini      AQ\\.Ab{_D}{{30,}}+
github             gh[opsur]_[A-Za-z0-9]{{30,}}+
github fine        github_pat_[A-Za-z0-9_]{{20,}}+
gitlab             gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{{20,}}+
gitlab runner      GR1348941{_D}{{20,}}+
bitbucket          ATBB[A-Za-z0-9]{{28,}}+
atlassian          ATATT3[A-Za-z0-9_=-]{{60,}}+
slack              xox[abceoprs]-[A-Za-z0-9-]{{10,}}+
slack rotated      xoxe\\.xox[bp]-[A-Za-z0-9-]{{10,}}+
slack app          xapp-[A-Za-z0-9-]{{10,}}+
stripe             (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{{10,}}+
stripe webhook     whsec_[A-Za-z0-9+/=]{{16,}}+
sk-                sk-(?=[A-Za-z_-]{{0,200}}[0-9]){_D}{{20,}}+
groq               gsk_[A-Za-z0-9]{{40,}}+
xai                xai-[A-Za-z0-9]{{40,}}+
perplexity         pplx-[A-Za-z0-9]{{32,}}+
replicate          r8_[A-Za-z0-9]{{30,}}+
hugging face       hf_[A-Za-z0-9]{{30,}}+
hugging face org   api_org_[A-Za-z0-9]{{30,}}+
nvidia             nvapi-{_D}{{40,}}+
together           tgp_v1_{_D}{{30,}}+
fireworks          fw_[A-Za-z0-9]{{22,}}+
pinecone           pcsk_[A-Za-z0-9_]{{40,}}+
langsmith          lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{8,}}+
elevenlabs         sk_{_HEX}{{40,}}+
tavily             tvly-{_D}{{20,}}+
databricks         dapi{_HEX}{{32}}(?:-[0-9])?(?!{_W})
sendgrid           SG\\.{_D}{{16,}}+\\.{_D}{{16,}}+
mailgun            key-{_HEX}{{32}}(?!{_W})
mailchimp          {_HEX}{{32}}-us[0-9]{{1,2}}(?!{_W})
brevo              xkeysib-{_HEX}{{64}}-{_W}{{16}}
twilio             SK{_HEX}{{32}}(?!{_W})
npm                npm_[A-Za-z0-9]{{36,}}+
pypi               pypi-{_D}{{50,}}+
rubygems           rubygems_{_HEX}{{48}}
crates             cio[A-Za-z0-9]{{32}}(?!{_W})
digitalocean       do[opr]_v1_{_HEX}{{64}}
heroku             HRKU-{_D}{{36,}}+
fly                fm[12]_[A-Za-z0-9+/=_,-]{{40,}}+
netlify            nfp_[A-Za-z0-9]{{36,}}+
supabase           sbp_{_HEX}{{40}}
supabase secret    sb_secret_{_D}{{20,}}+
render             rnd_[A-Za-z0-9]{{28,}}+
planetscale        pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{{32,}}+
linear             lin_(?:api|oauth)_[A-Za-z0-9]{{32,}}+
notion             ntn_[A-Za-z0-9]{{40,}}+
notion old         secret_[A-Za-z0-9]{{43}}(?!{_W})
airtable           pat[A-Za-z0-9]{{14}}\\.{_HEX}{{64}}
figma              figd_{_D}{{40,}}+
dropbox            sl\\.(?:u\\.)?{_D}{{100,}}+
discord            [MNO]{_D}{{23,27}}\\.{_D}{{6}}\\.{_D}{{27,}}+
telegram           [0-9]{{8,10}}:AA{_D}{{33}}
shopify            shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{{32}}
square             sq0[a-z]{{3}}-{_D}{{22,}}+
square access      EAAA{_D}{{56,}}+
meta               EAA[A-Za-z0-9]{{80,}}+
new relic          NR(?:AK|JS|II|RA)-{_D}{{19,}}+
grafana            glsa_[A-Za-z0-9]{{32}}_[A-Fa-f0-9]{{8}}
grafana cloud      glc_[A-Za-z0-9+/=]{{32,}}+
sentry             sntry[su]_[A-Za-z0-9+/=_-]{{40,}}+
postman            PMAK-{_HEX}{{24}}-{_HEX}{{34}}
doppler            dp\\.(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9.]{{40,}}+
vault              hv[sbr]\\.{_D}{{24,}}+
terraform          {_W}{{14}}\\.atlasv1\\.{_D}{{60,}}+
age                AGE-SECRET-KEY-1[A-Z0-9]{{58}}
docker             dckr_[op]at_{_D}{{20,}}+
1password          ops_eyJ[A-Za-z0-9+/=_-]{{50,}}+
sonar              sq[pua]_{_HEX}{{40}}
contentful         CFPAT-{_D}{{40,}}+
mapbox             sk\\.eyJ{_D}{{20,}}+\\.{_D}{{16,}}+
pulumi             pul-{_HEX}{{40}}
circleci           CCIPAT_[A-Za-z0-9_]{{40,}}+
buildkite          bk[up]a_{_HEX}{{40}}
dynatrace          dt0c01\\.[A-Z0-9]{{24}}\\.[A-Z0-9]{{64}}
plaid              access-(?:production|sandbox|development)-{_HEX}{{8}}-[a-f0-9-]{{27}}
razorpay           rzp_(?:live|test)_[A-Za-z0-9]{{14,}}+
flutterwave        FLWSECK(?:_TEST)?-[A-Za-z0-9]{{30,}}+(?:-X)?
easypost           EZ[AT]K[A-Za-z0-9]{{54}}
redask             redask_[0-9a-f]{{16}}_[0-9a-f]{{64}}
"""


def _grouped(shapes: list[str]) -> str:
    """One alternation, in which shapes that begin with the same letter stand together."""
    first: dict[str, list[str]] = {}
    for shape in shapes:
        letter = shape[0] if shape[0].isalnum() else ""
        first.setdefault(letter, []).append(shape)
    together = [
        f"(?={letter})(?:{'|'.join(each)})" if letter else "|".join(each)
        for letter, each in first.items()
    ]
    return "|".join(together)


SHAPES = {row[:19].strip(): row[19:].strip() for row in _ROWS.strip().splitlines()}
PATTERN = compiled_later(f"(?<![A-Za-z0-9])(?:{_grouped([*SHAPES.values()])})")
