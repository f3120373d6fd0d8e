# A C compiler builds the kernels, and stays behind.
FROM python:3.11-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
COPY pyproject.toml setup.py constraints.txt README.md LICENSE /source/
COPY src /source/src
RUN python -m venv /opt/sketchhash \
    && /opt/sketchhash/bin/pip install --no-cache-dir --constraint /source/constraints.txt '/source[heic,raw]'

FROM python:3.11-slim
COPY --from=build /opt/sketchhash /opt/sketchhash
RUN useradd --uid 1000 --create-home sketchhash && mkdir /data && chown sketchhash /data
USER sketchhash
ENV PATH=/opt/sketchhash/bin:$PATH \
    SKETCHHASH_HOST=0.0.0.0 \
    SKETCHHASH_GALLERY=/data/photos.gallery
VOLUME /data
EXPOSE 8765
HEALTHCHECK CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8765/health', timeout=5)"]
ENTRYPOINT ["sketchhash"]
CMD ["serve"]
